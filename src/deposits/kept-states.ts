import type { RecordedEvent } from '../event-log/event-log.ts';
import { LruCache } from '../tools/lru-cache.ts';
import type { StreamState } from './stream-state.ts';

/**
 * Number of events of the streams whose states are kept: of more deposits than wait for the checker for long. Memory
 * grows with events, not with streams: an entry adds up to 7 kB to a state, and a deposit may have a hundred.
 */
const MAX_EVENTS = 6000;

type Kept<State> = {
  readonly present: StreamState<State> & { readonly revision: number };
  /** Hashes of the events of the last append, which ends at the revision. */
  readonly hashes: readonly (string | null)[];
};

/**
 * Keeps the states of streams as appends of this process have left them, so that reactors of the same process need not
 * read the streams. Another node may have appended other events instead, also under the same ids, which a server answers
 * as a success. So a state is used only for an event of that append as the log delivers it: its hash proves that the log
 * has exactly these events, and all before them.
 */
export class KeptStates<State> {
  readonly #streams = new LruCache<Kept<State>>(MAX_EVENTS, ({ present }) => present.revision + 1);

  /** Keeps the state after an append of events with these hashes. */
  keep(stream: string, present: Kept<State>['present'], hashes: Kept<State>['hashes']): void {
    this.#streams.set(stream, { present, hashes });
  }

  drop(stream: string): void {
    this.#streams.delete(stream);
  }

  /** Returns a state that the stream had at the event, or after later events of the same append. */
  provenBy({ stream, revision, metadata }: RecordedEvent): StreamState<State> | undefined {
    const kept = this.#streams.get(stream);
    if (!kept) return undefined;
    const { present, hashes } = kept;
    const hash = hashes[revision - (present.revision + 1 - hashes.length)];
    return typeof hash === 'string' && hash === metadata['hash'] ? present : undefined;
  }
}
