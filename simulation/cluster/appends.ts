import { world } from '../world/world.ts';
import { clientFault } from './client-fault.ts';
import type { ClusterNetwork } from './cluster-network.ts';
import type { Connection, Leadership, Unreplicated } from './leadership.ts';
import type { ServerLog } from './server-log.ts';
import type { LogPosition, NewEvent, StoredEvent } from './stored-event.ts';

export type AppendResult = {
  readonly success: true;
  readonly nextExpectedRevision: bigint;
  readonly position: LogPosition;
};

export type ExpectedVersion = 'no_stream' | 'any' | bigint;

/** Milliseconds after which the server answers an append that is not replicated. It may be committed later. */
const COMMIT_TIMEOUT_MS = 2000;

/**
 * Appends by the rules of the server. One of the same ids at the same revision is answered like the first, once that is
 * replicated. Before, it is dropped, or rejected if the leader no longer recognises the ids.
 */
export class Appends {
  /** Appends whose repetition was rejected, and that were stored all the same: by their leader, or by the next one. */
  readonly counts = { 'rejected, then replicated': 0, 'rejected, then repeated': 0 };
  /** The last ids of appends that wait or are lost, and whose repetition was rejected. */
  readonly #rejected = new Set<string>();
  readonly #log: ServerLog;
  readonly #leadership: Leadership;
  readonly #network: ClusterNetwork;
  readonly #committed: (events: readonly StoredEvent[]) => void;

  constructor(
    log: ServerLog,
    leadership: Leadership,
    network: ClusterNetwork,
    committed: (events: readonly StoredEvent[]) => void,
  ) {
    this.#log = log;
    this.#leadership = leadership;
    this.#network = network;
    this.#committed = committed;
  }

  append(
    connection: Connection,
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedVersion,
  ): Promise<AppendResult> {
    const types = events.map(({ type }) => type).join('+');
    const label = { text: `append ${stream}@${expected} ${types}`, call: 'append' } as const;
    return this.#network.request<AppendResult>(connection, label, ({ old }, answer, refuse) => {
      const { unreplicated } = old ?? this.#leadership;
      const respond = (last: StoredEvent): void => answer(resultOf(last));
      const outcome = this.#outcomeOf(stream, events, expected, unreplicated, old?.upTo);
      if (outcome.kind === 'stored') respond(outcome.last);
      else if (outcome.kind === 'refused') {
        if (outcome.isRepetition) this.#rejectsRepetition(lastIdOf(events), unreplicated);
        refuse(outcome.error);
      } else if (outcome.kind === 'new' && !unreplicated) {
        if (this.#rejected.delete(lastIdOf(events))) this.counts['rejected, then repeated'] += 1;
        respond(this.#commit(stream, events.map(asSent)));
      } else {
        if (outcome.kind === 'new')
          unreplicated?.appends.push({ stream, events: events.map(asSent), answer: respond });
        world().schedule(COMMIT_TIMEOUT_MS, undefined, () => refuse(clientFault('timeout')));
      }
    });
  }

  /** Commits what waited for the quorum. */
  commitAll({ appends }: Unreplicated): void {
    for (const { stream, events, answer } of appends) {
      if (this.#rejected.delete(lastIdOf(events))) this.counts['rejected, then replicated'] += 1;
      answer(this.#commit(stream, events));
    }
  }

  #commit(stream: string, events: readonly NewEvent[]): StoredEvent {
    const committed = this.#log.commit(stream, events);
    this.#committed(committed);
    return committed.at(-1) as StoredEvent; // no append is empty
  }

  #rejectsRepetition(id: string, unreplicated: Unreplicated | undefined): void {
    world().note('fault', `the leader does not recognise ${id}, which it could not replicate`);
    this.#rejected.add(id);
    unreplicated?.onRejection();
  }

  #outcomeOf(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedVersion,
    unreplicated: Unreplicated | undefined,
    upTo: number | undefined,
  ): Outcome {
    const stored = this.#log.stream(stream, upTo);
    const waiting = unreplicated?.appends.filter((append) => append.stream === stream) ?? [];
    const all = [...stored, ...waiting.flatMap((append) => append.events)];
    if (expected === 'any' || all.length - 1 === numberOf(expected)) return { kind: 'new' };
    const from = numberOf(expected) + 1;
    const there = all.slice(from, from + events.length);
    const isSame = there.length === events.length && there.every(({ id }, index) => id === events[index]?.id);
    const last = there.at(-1);
    if (isSame && last && isStored(last)) return { kind: 'stored', last };
    if (isSame && !unreplicated?.areForgotten) return { kind: 'not replicated' };
    const actualVersion = all.length === 0 ? 'no_stream' : BigInt(all.length - 1);
    const error = clientFault('wrong-expected-version', { actualVersion });
    return { kind: 'refused', error, isRepetition: isSame };
  }
}

type Outcome =
  | { readonly kind: 'new' }
  | { readonly kind: 'stored'; readonly last: StoredEvent }
  /** An append with the same ids waits for the quorum. */
  | { readonly kind: 'not replicated' }
  /** `isRepetition`: the same append waits, and the leader has forgotten its ids. */
  | { readonly kind: 'refused'; readonly error: Error; readonly isRepetition: boolean };

function lastIdOf(events: readonly NewEvent[]): string {
  return (events.at(-1) as NewEvent).id; // no append is empty
}

function isStored(event: NewEvent): event is StoredEvent {
  return 'number' in event;
}

function numberOf(expected: Exclude<ExpectedVersion, 'any'>): number {
  return expected === 'no_stream' ? -1 : Number(expected);
}

/** Returns a copy that later changes of the caller do not reach. */
function asSent({ id, type, data, metadata }: NewEvent): NewEvent {
  const sent = JSON.parse(JSON.stringify({ data, metadata })) as Pick<NewEvent, 'data' | 'metadata'>;
  return { id, type, ...sent };
}

function resultOf({ revision, position }: StoredEvent): AppendResult {
  return { success: true, nextExpectedRevision: revision, position };
}
