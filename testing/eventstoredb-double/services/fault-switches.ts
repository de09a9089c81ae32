import { setTimeout as sleep } from 'node:timers/promises';
import { Metadata, status } from '@grpc/grpc-js';

/** The calls a fault can be set for; `subscribe` and `read` are the two uses of one gRPC method. */
export type FaultyCall =
  | 'append'
  | 'read'
  | 'subscribe'
  | 'delete'
  | 'createGroup'
  | 'groupInfo'
  | 'consume'
  | 'features'
  | 'gossip';

export type Fault =
  /** Nothing is done and a gRPC status is answered. */
  | {
      readonly kind: 'refuse';
      readonly code: status;
      readonly exception?: string;
      readonly trailers?: Readonly<Record<string, string>>;
    }
  /** Nothing is done, and the leader is named, which may be this server. */
  | { readonly kind: 'not leader' }
  /** Nothing is done and nothing is ever answered. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** Appends only: it is done and nothing is ever answered. */
  | { readonly kind: 'commit and hang' }
  /** Appends only: it is done and an error is answered (ABORTED is what a server answers after its time-out). */
  | { readonly kind: 'commit and refuse'; readonly code: status };

/** A failed call as @grpc/grpc-js expects it. */
export type Refusal = { readonly code: status; readonly details: string; readonly metadata: Metadata };

export type Address = { readonly host: string; readonly port: number };

type Switch = { readonly fault: Fault; times: number };

export class FaultSwitches {
  readonly #switches = new Map<FaultyCall, Switch[]>();
  readonly #seen = new Map<FaultyCall, number>();

  /** The next calls of this kind meet the fault; later ones succeed. */
  set(call: FaultyCall, fault: Fault, times = 1): void {
    const switches = this.#switches.get(call) ?? [];
    this.#switches.set(call, [...switches, { fault, times }]);
  }

  clear(): void {
    this.#switches.clear();
  }

  /** Returns the number of calls of this kind so far. */
  seen(call: FaultyCall): number {
    return this.#seen.get(call) ?? 0;
  }

  /** Counts the call and returns its fault, if there is one. */
  meet(call: FaultyCall): Fault | undefined {
    this.#seen.set(call, this.seen(call) + 1);
    const [first, ...later] = this.#switches.get(call) ?? [];
    if (!first) return undefined;
    first.times -= 1;
    if (first.times <= 0) this.#switches.set(call, later);
    return first.fault;
  }
}

/** Resolves to the refusal that the fault demands, or to undefined when the call is to be served. May never resolve. */
export async function suffer(fault: Fault | undefined, leader: Address): Promise<Refusal | undefined> {
  switch (fault?.kind) {
    case 'refuse':
      return refusal(fault.code, fault.exception, fault.trailers);
    case 'not leader':
      return notLeader(leader);
    case 'hang':
      return new Promise(() => undefined);
    case 'delay':
      await sleep(fault.milliseconds);
      return undefined;
    default:
      return undefined;
  }
}

/** Returns a failed call. The client distinguishes errors by the trailer `exception`. */
export function refusal(
  code: status,
  exception?: string,
  trailers: Readonly<Record<string, string>> = {},
): Refusal {
  const metadata = new Metadata();
  if (exception !== undefined) metadata.set('exception', exception);
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value);
  return { code, details: `${status[code]} of the double`, metadata };
}

export function notLeader({ host, port }: Address): Refusal {
  return refusal(status.NOT_FOUND, 'not-leader', {
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  });
}

/** Returns the answer to a call about a group on `$all` that is not served. */
export function groupRefusal(code: status, exception: string, group: string, reason?: string): Refusal {
  const names = { 'stream-name': '$all', 'group-name': group };
  return refusal(code, exception, reason === undefined ? names : { ...names, reason });
}
