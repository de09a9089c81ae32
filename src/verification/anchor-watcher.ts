import { coveredEvent } from '../anchors/covered-event.ts';
import { MerkleTree } from '../anchors/merkle-tree.ts';
import { counted } from '../domain/description.ts';
import type { RecordedEvent } from '../event-log/event-log.ts';
import type { PlacedAnchor } from './anchor-sources.ts';
import type { Watcher } from './history.ts';
import type { Report } from './report.ts';

/** Streams that are named of those that were written between two anchors. */
const [NAMED, KEPT] = [10, 1000];

/**
 * Computes the Merkle root again at every anchor. Where one does not hold, it names what was written since the last
 * that does: the change lies there. As far as those go that were kept elsewhere, they alone count for that: whoever has
 * rewritten the log can have made anchors in it that fit.
 */
export function anchorWatcher(report: Report, anchors: readonly PlacedAnchor[]): Watcher {
  const tree = new MerkleTree();
  let next = 0;
  let held = 0;
  let failed = 0;
  let since = new Since();
  const kept = anchors.findLast(({ isKeptElsewhere }) => isKeptElsewhere)?.anchor.events ?? 0;

  const compare = (placed: PlacedAnchor): void => {
    if (tree.root() === placed.anchor.root) {
      report.counts.anchors += 1;
      if (failed > 0 || (tree.size <= kept && !placed.isKeptElsewhere)) return;
      held = tree.size;
      since = new Since();
      return;
    }
    failed += 1;
    if (failed > 1) return;
    const { events, madeAt } = placed.anchor;
    report.find({
      check: 'anchors',
      code: 'ANCHOR_DOES_NOT_HOLD',
      text: `The anchor over ${counted(events, 'event')} of ${madeAt} (${placed.where}) does not hold: what was changed, removed or put in lies among the events ${held + 1} to ${events}, which are of ${since.inWords()}.`,
      anchor: events,
      streams: since.streams,
    });
  };

  return {
    see(event) {
      tree.append(coveredEvent(event));
      since.add(event);
      for (let placed = anchors[next]; placed?.anchor.events === tree.size; placed = anchors[next]) {
        compare(placed);
        next += 1;
      }
    },
    end(whole) {
      const beyond = anchors.slice(next);
      const [first] = beyond;
      if (first && whole) {
        const { events, madeAt } = first.anchor;
        const missing = (beyond.at(-1)?.anchor.events ?? events) - tree.size;
        report.find({
          check: 'anchors',
          code: 'EVENTS_REMOVED',
          text: `The anchor over ${counted(events, 'event')} of ${madeAt} (${first.where}) does not hold: the log has only ${counted(tree.size, 'event')}. At least ${missing} ${missing === 1 ? 'was' : 'were'} removed, ${held === tree.size ? 'from its end' : `after event ${held}, among those of ${since.inWords()} or behind them`}.`,
          anchor: events,
          ...(since.streams.length > 0 && { streams: since.streams }),
        });
      }
      const others = failed - 1 + Math.max(0, beyond.length - 1);
      if (failed > 0 && others > 0)
        report.notes.push(
          `${counted(others, 'later anchor')} ${others === 1 ? 'does' : 'do'} not hold either.`,
        );
    },
  };
}

/** What was written since an anchor: a few names, and how many there are. */
class Since {
  readonly #revisions = new Map<string, { readonly first: number; last: number }>();
  #more = false;

  get streams(): readonly string[] {
    return [...this.#revisions.keys()];
  }

  add({ stream, revision }: RecordedEvent): void {
    const seen = this.#revisions.get(stream);
    if (seen) seen.last = revision;
    else if (this.#revisions.size < KEPT) this.#revisions.set(stream, { first: revision, last: revision });
    else this.#more = true;
  }

  inWords(): string {
    const names = Array.from(this.#revisions, ([stream, { first, last }]) =>
      first === last ? `${stream} (revision ${first})` : `${stream} (revisions ${first} to ${last})`,
    );
    if (names.length === 0) return 'no stream that is there';
    if (names.length <= NAMED) return names.join(', ');
    const more = this.#more ? `more than ${KEPT - NAMED}` : names.length - NAMED;
    return `${names.slice(0, NAMED).join(', ')} and ${more} others`;
  }
}
