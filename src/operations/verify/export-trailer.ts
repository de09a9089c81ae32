import { pluralize } from '../../domain/description.ts';
import type { Json, RecordedEvent } from '../../event-log/event-log.ts';
import { canonicalJson } from '../../event-log/integrity/hash-chain.ts';
import { coveredEvent } from '../../modules/anchors/merkle-leaf.ts';
import { MerkleTree } from '../../modules/anchors/merkle-tree.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';

/** The selection of an export that is not complete, and what an export for auditors leaves out. */
export type ExportedPart = {
  readonly stream?: string;
  readonly from?: string;
  /** Number of events whose secrets were replaced by `null`; only in an export made with `--audit`. */
  readonly redacted?: number;
};

/** The last line of an export: number and digest of its events. */
export type ExportTrailer = ExportedPart & {
  /** Version of this format. */
  readonly export: typeof VERSION;
  readonly events: number;
  /** Root of the Merkle tree over them, 64 hex digits, equal to that of an anchor over as many events of the log. */
  readonly root: string;
};

const VERSION = 1;

/** The export misses events, contains others, or has no trailer. */
class ExportNotWhole extends errorsOfCode('EXPORT_NOT_WHOLE') {}

/** The export was made for auditors, without credentials and secrets: it is not the log. */
export class AuditExport extends errorsOfCode('AUDIT_EXPORT') {
  constructor() {
    super(
      'This export was made with --audit: credentials and secrets are missing, so it cannot be imported. Export again without --audit.',
    );
  }
}

/** Counts the events of an export as they are read or written. */
export class ExportTally {
  readonly #tree = new MerkleTree();

  get events(): number {
    return this.#tree.size;
  }

  add(event: RecordedEvent): void {
    this.#tree.append(coveredEvent(event));
  }

  /** Returns the last line, without its line feed. */
  lastLine(part: ExportedPart): string {
    const end: ExportTrailer = { export: VERSION, events: this.events, root: this.#tree.root(), ...part };
    return canonicalJson(end satisfies Json);
  }

  /**
   * @param end the trailer, if there is one; required unless `partial`.
   * @throws {ExportNotWhole}
   * @throws {AuditExport}
   */
  assertWhole(end: ExportTrailer | undefined, { partial }: { readonly partial: boolean }): void {
    if (end?.redacted !== undefined) throw new AuditExport();
    if (end) this.#assertSame(end);
    if (partial) return;
    if (end === undefined) {
      throw new ExportNotWhole(
        `The export ends after ${pluralize(this.events, 'event')}: the last line, which says how many there are, is missing. ${PARTIAL}`,
      );
    }
    const parts = [
      ...(end.stream === undefined ? [] : [`of the stream ${end.stream} alone`]),
      ...(end.from === undefined ? [] : [`from the position ${end.from} on`]),
    ];
    if (parts.length > 0)
      throw new ExportNotWhole(`This is an export ${parts.join(' and ')}, not of the whole log. ${PARTIAL}`);
  }

  #assertSame(end: ExportTrailer): void {
    if (end.events !== this.events) {
      const less = end.events - this.events;
      const what =
        less > 0
          ? `${less} ${less === 1 ? 'is' : 'are'} missing`
          : `${-less} ${less === -1 ? 'was' : 'were'} put in`;
      throw new ExportNotWhole(
        `The export has ${pluralize(this.events, 'event')} where its last line says ${end.events}: ${what}.`,
      );
    }
    if (end.root !== this.#tree.root()) {
      throw new ExportNotWhole(
        `The ${this.events} events of the export do not match its last line, or are in another order: their root is ${this.#tree.root()}, not ${end.root}.`,
      );
    }
  }
}

const PARTIAL = 'To import it nevertheless, such as an export of an older release, give --partial.';

/** Parses a trailer; `undefined` if the line is an event or something else. */
export function exportEnd(value: Readonly<Record<string, Json>>, line: string): ExportTrailer | undefined {
  const { export: version, events, root, stream, from, redacted, ...more } = value;
  const isEnd =
    version === VERSION &&
    Number.isSafeInteger(events) &&
    typeof root === 'string' &&
    [stream, from].every((part) => part === undefined || typeof part === 'string') &&
    (redacted === undefined || Number.isSafeInteger(redacted)) &&
    Object.keys(more).length === 0 &&
    canonicalJson(value) === line;
  return isEnd ? (value as ExportTrailer) : undefined; // every member was checked
}
