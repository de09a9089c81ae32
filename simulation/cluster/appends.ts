import { clientFault } from './client-fault.ts';
import type { ClusterNetwork } from './cluster-network.ts';
import type { Connection, Leadership, PendingAppend } from './leadership.ts';
import type { ServerLog } from './server-log.ts';
import type { LogPosition, NewEvent, StoredEvent } from './stored-event.ts';

export type AppendResult = {
  readonly success: true;
  readonly nextExpectedRevision: bigint;
  readonly position: LogPosition;
};

export type ExpectedVersion = 'no_stream' | 'any' | bigint;

/** Appends by the rules of the server: an append of the same ids at the same revision is answered like the first. */
export class Appends {
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
      const pending = old ? old.pending : this.#leadership.pending;
      const respond = (last: StoredEvent): void => answer(resultOf(last));
      const outcome = this.#outcomeOf(stream, events, expected, pending, old?.upTo);
      if (outcome.kind === 'stored') respond(outcome.last);
      else if (outcome.kind === 'pending') outcome.append.answers.push(respond);
      else if (outcome.kind === 'refused') refuse(outcome.error);
      else if (old || !this.#leadership.hasQuorum)
        pending.push({ stream, events: events.map(asSent), answers: [respond] });
      else respond(this.#commit(stream, events.map(asSent)));
    });
  }

  /** Commits what waited for the quorum. */
  commitPending(): void {
    for (const { stream, events, answers } of this.#leadership.pending.splice(0)) {
      const last = this.#commit(stream, events);
      for (const answer of answers) answer(last);
    }
  }

  #commit(stream: string, events: readonly NewEvent[]): StoredEvent {
    const committed = this.#log.commit(stream, events);
    this.#committed(committed);
    return committed.at(-1) as StoredEvent; // no append is empty
  }

  #outcomeOf(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedVersion,
    pending: readonly PendingAppend[],
    upTo: number | undefined,
  ): Outcome {
    const stored = this.#log.stream(stream, upTo);
    const waiting = pending.filter((append) => append.stream === stream);
    const all = [...stored, ...waiting.flatMap((append) => append.events)];
    if (expected === 'any' || all.length - 1 === numberOf(expected)) return { kind: 'new' };
    const from = numberOf(expected) + 1;
    const there = all.slice(from, from + events.length);
    const isSame = there.length === events.length && there.every(({ id }, index) => id === events[index]?.id);
    const last = there.at(-1);
    if (isSame && last && isStored(last)) return { kind: 'stored', last };
    const twin = waiting.find((append) => append.events.at(-1)?.id === events.at(-1)?.id);
    if (isSame && twin) return { kind: 'pending', append: twin };
    const actualVersion = all.length === 0 ? 'no_stream' : BigInt(all.length - 1);
    return { kind: 'refused', error: clientFault('wrong-expected-version', { actualVersion }) };
  }
}

type Outcome =
  | { readonly kind: 'new' }
  | { readonly kind: 'stored'; readonly last: StoredEvent }
  /** An equal append waits for the quorum. */
  | { readonly kind: 'pending'; readonly append: PendingAppend }
  | { readonly kind: 'refused'; readonly error: Error };

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
