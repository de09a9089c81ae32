import type { KeyObject } from 'node:crypto';
import path from 'node:path';
import { appendAfter, untilAppended } from '../../event-log/append-after.ts';
import { type EventLog, lastEvent, type RecordedEvent } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { lockFile, lockWithin } from '../../tools/files/lock-file.ts';
import { ANCHORS, type Anchor, anchorDigest, asAnchor, NoAnchor, signAnchor } from './anchor.ts';
import { appendMissing } from './anchor-file.ts';
import { anchorKey } from './anchor-key.ts';
import { LogMerkleTree } from './log-merkle-tree.ts';

export type AnchorOptions = {
  /** Folder of the saved Merkle tree. */
  readonly dataDir: string;
  readonly anchorKeyFile: string;
  /** File that gets a line for each anchor; `null` for none. */
  readonly anchorFile: string | null;
};

/** The last anchor of the log. */
export type LoggedAnchor = {
  readonly anchor: Anchor;
  /** False when there are no events after it, so that it was made before. */
  readonly made: boolean;
};

export type Anchored = LoggedAnchor & {
  /** Number of lines appended to the file. */
  readonly written: number;
};

type MakingOptions = {
  readonly signal?: AbortSignal;
  /** Called when the anchor is in the log, before it is written to the file. */
  readonly onLogged?: (anchor: LoggedAnchor) => void;
};

/** Thrown when another process repeatedly makes anchors at the same time. */
class AnchorsOvertaken extends errorsOfCode('ANCHORS_OVERTAKEN') {}

/** Thrown when the log has fewer events than one of its anchors covers. */
class AnchoredEventsGone extends errorsOfCode('ANCHORED_EVENTS_GONE') {}

/** Thrown when the log is empty. */
export class NothingToAnchor extends errorsOfCode('NOTHING_TO_ANCHOR') {}

/** Maximum number of conflicting appends before an anchoring fails. */
const MAX_LOST = 5;
const LOCK_TIMEOUT_MS = 60_000;
const IN_USE = 'Another process is creating an anchor: try again when it has finished.';

/**
 * Makes an anchor over the whole log if there are events after the last one: a signed statement of the content of the
 * log, stored in its stream `anchors` and in a file.
 * @throws {DataFolderInUse} another process has been making an anchor for a minute.
 */
export async function makeAnchor(
  log: EventLog,
  { dataDir, anchorKeyFile, anchorFile }: AnchorOptions,
  { signal, onLogged }: MakingOptions = {},
): Promise<Anchored> {
  // So that the end of the file cannot change between reading and appending.
  using _lock = await lockWithin(LOCK_TIMEOUT_MS, () =>
    lockFile(path.join(dataDir, 'anchoring.lock'), IN_USE),
  );
  const key = await anchorKey(anchorKeyFile);
  const stateFile = path.join(dataDir, 'anchor-state.json');
  const overtaken = () =>
    new AnchorsOvertaken('Other processes create anchors at the same time: try again later.');
  const attempt = () => anchorIfNeeded(log, stateFile, key, signal);
  const { anchor, made } = await untilAppended(log, ANCHORS, attempt, { maxLost: MAX_LOST, overtaken });
  onLogged?.({ anchor, made });
  const written = anchorFile === null ? 0 : await appendMissing(anchorFile, newestFirst(log));
  return { anchor, made, written };
}

/** @throws {WrongExpectedRevision} the log has another event there, or rejects appends without a quorum */
async function anchorIfNeeded(
  log: EventLog,
  stateFile: string,
  key: KeyObject,
  signal: AbortSignal | undefined,
): Promise<LoggedAnchor> {
  const tree = await LogMerkleTree.open(log, stateFile);
  const event = await lastEvent(log, ANCHORS);
  const last = event && anchorOf(event);
  await tree.catchUp(signal);
  if (tree.lastOther === 0) throw new NothingToAnchor('The event log has nothing to anchor yet.');
  if (last && tree.events < last.events) {
    throw new AnchoredEventsGone(
      `The event log holds ${tree.events} events, its last anchor of ${last.madeAt} is over ${last.events}: events were removed. Run "deposit-service verify --all".`,
    );
  }
  if (last && tree.lastOther <= last.events) return { anchor: last, made: false };
  const anchor = signAnchor(
    {
      events: tree.events,
      root: tree.root(),
      previous: last ? anchorDigest(last) : null,
      madeAt: clock.date().toISOString(),
    },
    key,
  );
  const metadata = { occurredAt: anchor.madeAt };
  await appendAfter(log, ANCHORS, event, { type: 'AnchorMade', data: anchor, metadata });
  return { anchor, made: true };
}

async function* newestFirst(log: EventLog): AsyncGenerator<Anchor> {
  for await (const event of log.readStream(ANCHORS, { backwards: true })) yield anchorOf(event);
}

/** Parses an anchor event. @throws {NoAnchor} */
function anchorOf({ data, revision }: RecordedEvent): Anchor {
  try {
    return asAnchor(data);
  } catch (cause) {
    throw new NoAnchor(
      `The event at revision ${revision} of the stream ${ANCHORS} is not an anchor: another program has appended it. ${(cause as Error).message} Run "deposit-service verify --all".`,
      { cause },
    );
  }
}
