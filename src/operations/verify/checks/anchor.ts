import { pluralize } from '../../../domain/description.ts';
import type { RecordedEvent } from '../../../event-log/event-log.ts';
import { ANCHORS } from '../../../modules/anchors/anchor.ts';
import { coveredEvent } from '../../../modules/anchors/merkle-leaf.ts';
import { MerkleTree } from '../../../modules/anchors/merkle-tree.ts';
import type { PlacedAnchor } from '../anchor-sources.ts';
import type { LogCheck } from '../log-pass.ts';
import type { Report } from '../report.ts';

/** Maximum number of streams between two anchors that are named, and that are remembered. */
const [MAX_NAMED, MAX_REMEMBERED] = [10, 1000];

/**
 * Recomputes the Merkle root at every anchor. For one that does not match, names what was written since the last match:
 * the change is there.
 * Up to the last anchor that is stored apart from the log, only such anchors count as matches. An attacker who rewrote
 * the log can have forged matching anchors in it.
 */
export function anchorCheck(report: Report, anchors: readonly PlacedAnchor[]): LogCheck {
  const tree = new MerkleTree();
  let next = 0;
  let held = 0;
  let failed = 0;
  let since = new StreamRanges();
  const external = anchors.findLast(({ isExternal }) => isExternal);
  const kept = external?.anchor.events ?? 0;
  let uncovered = 0;

  const compare = (placed: PlacedAnchor): void => {
    if (tree.root() === placed.anchor.root) {
      report.counts.anchors += 1;
      if (failed > 0 || (tree.size <= kept && !placed.isExternal)) return;
      held = tree.size;
      since = new StreamRanges();
      return;
    }
    failed += 1;
    if (failed > 1) return;
    const { events, madeAt } = placed.anchor;
    report.find({
      check: 'anchors',
      code: 'ANCHOR_DOES_NOT_HOLD',
      text: `The anchor over ${pluralize(events, 'event')} of ${madeAt} (${placed.where}) does not match: something was changed, removed or inserted among the events ${held + 1} to ${events}, which are of ${since.inWords()}.`,
      anchor: events,
      streams: since.streams,
    });
  };

  return {
    see(event) {
      tree.append(coveredEvent(event));
      if (external && tree.size > kept && event.stream !== ANCHORS) uncovered += 1;
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
          text: `The anchor over ${pluralize(events, 'event')} of ${madeAt} (${first.where}) does not hold: the log has only ${pluralize(tree.size, 'event')}. At least ${missing} ${missing === 1 ? 'was' : 'were'} removed, ${held === tree.size ? 'from its end' : `after event ${held}, among those of ${since.inWords()} or behind them`}.`,
          anchor: events,
          ...(since.streams.length > 0 && { streams: since.streams }),
        });
      }
      if (external && uncovered > 0)
        report.notes.push(
          `The last anchor that is stored elsewhere is of ${external.anchor.madeAt}, over ${pluralize(kept, 'event')}. It covers none of the ${uncovered} after it, and does not show whether more were cut off.`,
        );
      const others = failed - 1 + Math.max(0, beyond.length - 1);
      if (failed > 0 && others > 0)
        report.notes.push(
          `${pluralize(others, 'later anchor')} ${others === 1 ? 'does' : 'do'} not hold either.`,
        );
    },
  };
}

/** The streams written since an anchor: a few names, and their number. */
class StreamRanges {
  readonly #revisions = new Map<string, { readonly first: number; last: number }>();
  #more = false;

  get streams(): readonly string[] {
    return [...this.#revisions.keys()];
  }

  add({ stream, revision }: RecordedEvent): void {
    const seen = this.#revisions.get(stream);
    if (seen) seen.last = revision;
    else if (this.#revisions.size < MAX_REMEMBERED)
      this.#revisions.set(stream, { first: revision, last: revision });
    else this.#more = true;
  }

  inWords(): string {
    const names = Array.from(this.#revisions, ([stream, { first, last }]) =>
      first === last ? `${stream} (revision ${first})` : `${stream} (revisions ${first} to ${last})`,
    );
    if (names.length === 0) return 'no existing stream';
    if (names.length <= MAX_NAMED) return names.join(', ');
    const more = this.#more ? `more than ${MAX_REMEMBERED - MAX_NAMED}` : names.length - MAX_NAMED;
    return `${names.slice(0, MAX_NAMED).join(', ')} and ${more} others`;
  }
}
