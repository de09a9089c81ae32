import { checkAppend, type Expected, type StreamState } from '../storage/append-check.ts';
import type { LogView } from '../storage/log-view.ts';
import type { ProposedEvent } from '../storage/stored-events.ts';
import type { AppendOutcome, StoredLog } from '../storage/stored-log.ts';

type Pending = {
  readonly stream: string;
  readonly events: readonly ProposedEvent[];
  readonly outcome: PromiseWithResolvers<AppendOutcome>;
};

/**
 * The appends of a leader that no other node has: no read shows them, and appends behind them are judged by them.
 * They are committed later or truncated.
 */
export class UnreplicatedAppends {
  readonly #view: LogView;
  #pending: Pending[] = [];
  #areForgotten = false;

  constructor(view: LogView) {
    this.#view = view;
  }

  get count(): number {
    return this.#pending.length;
  }

  /** No repetition of these appends is recognised by its ids, as if they had left the leader's cache. */
  forgetIds(): void {
    this.#areForgotten = true;
  }

  /**
   * Resolves at once when the append is refused or was committed before; else when it is committed. The repetition of
   * one of these appends is dropped: its caller gets no answer.
   */
  append(stream: string, expected: Expected, events: readonly ProposedEvent[]): Promise<AppendOutcome> {
    const committed = this.#view.stateOf(stream);
    const own = this.#pending.filter((pending) => pending.stream === stream);
    const state = behind(committed, own);
    const check = checkAppend(
      state,
      expected,
      events.map(({ id }) => id),
    );
    if (check.kind === 'refused') return Promise.resolve(check);
    if (check.kind === 'new') return this.#add(stream, events);
    const last = this.#view.eventOf(stream, check.last);
    if (last) return Promise.resolve({ kind: 'already there', last });
    if (!this.#areForgotten) return new Promise(() => undefined);
    return Promise.resolve({ kind: 'refused', actual: state.nextRevision - 1 });
  }

  commit(log: StoredLog): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const { stream, events, outcome } of pending) outcome.resolve(log.append(stream, 'any', events));
  }

  /** Forgets them. Their callers get no answer. */
  truncate(): void {
    this.#pending = [];
  }

  #add(stream: string, events: readonly ProposedEvent[]): Promise<AppendOutcome> {
    const outcome = Promise.withResolvers<AppendOutcome>();
    this.#pending.push({ stream, events, outcome });
    return outcome.promise;
  }
}

function behind(committed: StreamState, pending: readonly Pending[]): StreamState {
  const ids = pending.flatMap(({ events }) => events.map(({ id }) => id));
  const { nextRevision, isDeleted, idAt } = committed;
  return {
    nextRevision: nextRevision + ids.length,
    isDeleted: isDeleted && ids.length === 0,
    idAt: (revision) => (revision < nextRevision ? idAt(revision) : ids[revision - nextRevision]),
  };
}
