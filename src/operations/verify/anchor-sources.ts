import { pluralize } from '../../domain/description.ts';
import { EventLogUnavailable } from '../../event-log/event-log.ts';
import type { LogAudit } from '../../event-log/integrity/log-audit.ts';
import {
  ANCHORS,
  type Anchor,
  anchorDigest,
  anchorIn,
  asAnchor,
  isCutLine,
  isSignedByItsKey,
} from '../../modules/anchors/anchor.ts';
import { files } from '../../tools/files.ts';
import { type AnchorKeys, AnchorSigners } from './anchor-keys.ts';
import { readLines } from './read-lines.ts';
import type { Report } from './report.ts';

export type PlacedAnchor = {
  readonly anchor: Anchor;
  readonly digest: string;
  /** For example "line 3 of /mnt/anchors". */
  readonly where: string;
  /** Whether the anchor is from the file. A writer of the log cannot have forged such an anchor. */
  readonly isExternal: boolean;
};

export type AnchorSources = AnchorKeys & {
  /** File of anchors that is stored apart from the log. */
  readonly file: string | undefined;
};

/** Returns all signed anchors, without duplicates, by the number of events; equal ones of the file first. */
export async function anchorsToCompare(
  log: Pick<LogAudit, 'stream'>,
  { file, ...keys }: AnchorSources,
  report: Report,
): Promise<PlacedAnchor[]> {
  // The file first: a running service appends an anchor to the log before it appends it to the file.
  const ofFile = file === undefined ? [] : await validateChain(anchorsOfFile(file, report), keys, report);
  const ofLog = await validateChain(anchorsOfLog(log, report), keys, report);
  const inLog = new Set(ofLog.map(({ digest }) => digest));
  for (const { anchor, digest, where } of ofFile) {
    if (!inLog.has(digest)) find(report, anchor, 'ANCHOR_NOT_IN_LOG', where, 'is no longer in the log');
  }
  if (ofFile.length > 0 && ofFile[0]?.anchor.previous !== null) {
    report.notes.push(`The first anchor of ${file} follows others, which were not looked at.`);
  }
  const all = new Map([...ofLog, ...ofFile].map((placed) => [placed.digest, placed]));
  const first = ({ isExternal }: PlacedAnchor): number => (isExternal ? 0 : 1);
  return [...all.values()]
    .filter(({ anchor }) => isSignedByItsKey(anchor)) // the others are reported and prove nothing
    .sort((a, b) => a.anchor.events - b.anchor.events || first(a) - first(b));
}

/** Validates a chain of anchors: each signed, and naming the one before it. Consecutive duplicates count once. */
async function validateChain(
  anchors: AsyncIterable<PlacedAnchor>,
  keys: AnchorKeys,
  report: Report,
): Promise<PlacedAnchor[]> {
  const all: PlacedAnchor[] = [];
  const signers = new AnchorSigners(keys);
  for await (const placed of anchors) {
    const { anchor, digest, where } = placed;
    const before = all.at(-1);
    if (before?.digest === digest) continue;
    const isSigned = isSignedByItsKey(anchor);
    const keyFault = isSigned ? signers.faultOf(anchor) : undefined;
    if (!isSigned)
      find(report, anchor, 'ANCHOR_NOT_SIGNED', where, 'does not carry a signature of its contents');
    if (keyFault !== undefined) find(report, anchor, 'ANCHOR_KEY_FOREIGN', where, keyFault);
    if (before && (anchor.previous !== before.digest || anchor.events <= before.anchor.events)) {
      find(report, anchor, 'ANCHORS_BROKEN', where, `does not follow the one before it, ${before.where}`);
    }
    all.push(placed);
  }
  report.notes.push(...signers.notes());
  return all;
}

async function* anchorsOfLog(log: Pick<LogAudit, 'stream'>, report: Report): AsyncGenerator<PlacedAnchor> {
  try {
    for await (const record of log.stream(ANCHORS)) {
      if (record.kind === 'unreadable') continue; // reported when the whole log is read
      const where = `revision ${record.event.revision} of ${ANCHORS}`;
      const anchor = parseAnchor(() => asAnchor(record.event.data), where, report);
      if (record.event.revision === 0 && anchor && anchor.previous !== null) {
        find(report, anchor, 'ANCHORS_BROKEN', where, 'is the first but follows another');
      }
      if (anchor) yield { anchor, digest: anchorDigest(anchor), where, isExternal: false };
    }
  } catch (error) {
    if (!(error instanceof EventLogUnavailable)) throw error;
    const text = `The anchors of the log cannot be read: ${error.message}`;
    report.find({ check: 'anchors', code: 'LOG_UNREADABLE', text });
  }
}

async function* anchorsOfFile(file: string, report: Report): AsyncGenerator<PlacedAnchor> {
  let number = 0;
  for await (const { bytes, hasEnd } of readLines(files.createReadStream(file))) {
    const line = bytes.toString().replace(/\r$/, '');
    if (!hasEnd && isCutLine(line)) {
      report.notes.push(
        `The last line of ${file} is truncated, by a crash or while it is being written: the next anchor writes it again.`,
      );
      continue;
    }
    number += 1;
    const where = `line ${number} of ${file}`;
    const anchor = parseAnchor(() => anchorIn(line), where, report);
    if (anchor) yield { anchor, digest: anchorDigest(anchor), where, isExternal: true };
  }
  if (number === 0)
    report.find({ check: 'anchors', code: 'NO_ANCHORS', text: `${file} has no anchor.`, file });
}

function parseAnchor(parse: () => Anchor, where: string, report: Report): Anchor | undefined {
  try {
    return parse();
  } catch (error) {
    const text = `No anchor at ${where}: ${(error as Error).message}`;
    report.find({ check: 'anchors', code: 'ANCHOR_UNREADABLE', text });
    return undefined;
  }
}

function find(report: Report, anchor: Anchor, code: string, where: string, what: string): void {
  const text = `The anchor over ${pluralize(anchor.events, 'event')} of ${anchor.madeAt} (${where}) ${what}.`;
  report.find({ check: 'anchors', code, text, anchor: anchor.events });
}
