import type { KeyObject } from 'node:crypto';
import { publicKeyOf } from '../anchors/anchor.ts';
import { openStoreAudit } from '../archive-store/open-store-audit.ts';
import type { ArchiveLimits } from '../archives/inspection.ts';
import { ArchiveWorkers } from '../archives/threads/archive-workers.ts';
import type { Config } from '../config.ts';
import { deposits } from '../domain/aggregates.ts';
import type { AuditedRecord, LogAudit } from '../event-log/log-audit.ts';
import { openLogAudit } from '../event-log/open-log-audit.ts';
import { StreamHeads } from '../event-log/stream-heads.ts';
import { anchorsToCompare } from './anchor-sources.ts';
import { anchorWatcher } from './anchor-watcher.ts';
import { chainWatcher } from './chain-watcher.ts';
import { clockWatcher } from './clock-watcher.ts';
import { codecWatcher } from './codec-watcher.ts';
import { depositIdWatcher, IDS } from './deposit-id-watcher.ts';
import { eventIdWatcher } from './event-id-watcher.ts';
import { history, type Watcher } from './history.ts';
import { identifierWatcher } from './identifier-watcher.ts';
import { ObjectProofs } from './object-proofs.ts';
import { objectWatcher } from './object-watcher.ts';
import { otherObjects } from './other-objects.ts';
import type { Check, Report } from './report.ts';
import { type Interrupted, ResumePoint } from './resume-point.ts';
import { structure } from './structure.ts';
import { stuckWatcher } from './stuck-watcher.ts';
import { type ShownViews, viewsCheck } from './views-check.ts';

export type Verification = {
  /** Everything, the log alone, or these deposits with all that they need. */
  readonly what: 'all' | 'log' | readonly number[];
  /** Anchors that were kept elsewhere, and the keys they may be signed with. */
  readonly anchorFile?: string;
  readonly anchorKeys?: readonly KeyObject[];
  /** Of this data folder: when no other keys are given, anchors of others are told of. */
  readonly ownAnchorKey?: KeyObject;
  /** Where a verification of everything remembers how far it is, and what an interrupted one has left there. */
  readonly resume?: { readonly file: string; readonly from: Interrupted | undefined };
  /** Those of this node, compared with everything else. */
  readonly views?: ShownViews;
  readonly progress?: (what: string, done: number, total?: number) => void;
  readonly signal?: AbortSignal;
};

/**
 * Proves that neither the history nor the bytes of a service were altered, or finds what was. Writes nothing but
 * the file to resume from; the service may run.
 */
export async function verifyService(
  config: Config,
  verification: Verification,
  report: Report,
): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const log = resources.use(await openLogAudit(config.eventLog));
  const resume = new ResumePoint(verification.resume?.file, verification.resume?.from);
  const { what } = verification;
  const checks =
    what === 'log'
      ? [structure(log), wholeLog(log, verification, [])]
      : await withObjects(config, { ...verification, what }, { log, resume, report, resources });
  for (const check of checks) await check(report);
  if (verification.anchorFile === undefined)
    report.notes.push(what === 'all' ? WITHOUT_ANCHORS : BY_THEMSELVES);
  if (verification.resume?.from) report.notes.push(trusted(verification.resume.file));
  if (resume.trouble !== undefined) {
    report.notes.push(`An interrupted run could not have been resumed: ${resume.trouble}.`);
  }
  await resume.done();
}

const trusted = (file: string): string =>
  `What ${file} says that the interrupted run has proven was not read again: whoever can write there could have said so. --state keeps it elsewhere.`;
const WITHOUT_ANCHORS =
  'No anchors kept elsewhere were compared. Without them it does not show that whoever could write here has cut off the end of the log, written a stream anew with fitting hashes or put events in another order: let "npm run anchor -- --file" or DEPOSIT_ANCHOR_FILE keep them elsewhere, and give them with --anchors.';
const BY_THEMSELVES =
  'Each deposit was looked at by itself and no anchor was compared: that its last events were cut off, or that its stream was written anew with fitting hashes, shows only with --all or --anchors and anchors kept elsewhere.';

type Parts = {
  readonly log: LogAudit;
  readonly resume: ResumePoint;
  readonly report: Report;
  readonly resources: AsyncDisposableStack;
};

/** In the order in which they are made. */
async function withObjects(
  config: Config,
  verification: Verification & { readonly what: 'all' | readonly number[] },
  { log, resume, report, resources }: Parts,
): Promise<Check[]> {
  const store = resources.use(await openStoreAudit(config.archiveStore, config.dataDir));
  const reader = resources.use(
    new ArchiveWorkers({ size: config.archiveWorkers, overlayTime: config.archiveLimits.wallTime }),
  );
  const proofs = new ObjectProofs(store, report);
  const limits = withoutLimits(config.archiveLimits);
  const sources = { log, store, reader, limits, atOnce: config.archiveWorkers + 1 };
  const watchers = [
    objectWatcher(report, store, proofs, resume),
    identifierWatcher(report, sources, resume),
    stuckWatcher(report, config.stuckAfter),
  ];
  const { what, progress, views, signal } = verification;
  if (what !== 'all') return [someDeposits(log, what, verification, watchers)];
  return [
    structure(log),
    structure(store),
    wholeLog(log, verification, [...watchers, resume.watcher()]),
    otherObjects(store, proofs, (done) => progress?.('other objects read', done)),
    ...(views ? [viewsCheck(views, (events) => progress?.('events shown', events), signal)] : []),
  ];
}

function wholeLog(
  log: LogAudit,
  { anchorFile, anchorKeys = [], ownAnchorKey, progress, signal }: Verification,
  watchers: readonly Watcher[],
): Check {
  return async (report) => {
    const keys = anchorKeys.map(publicKeyOf);
    const sources = { file: anchorFile, keys, ...(ownAnchorKey && { ownKey: publicKeyOf(ownAnchorKey) }) };
    const anchors = await anchorsToCompare(log, sources, report);
    const total = await log.count();
    const all = [
      ...logWatchers(report, log, { alongLog: true }),
      anchorWatcher(report, anchors),
      ...watchers,
    ];
    await history(() => log.events(), all, {
      progress: (events) => progress?.('events verified', events, total),
      ...(signal && { signal }),
    })(report);
  };
}

function someDeposits(
  log: LogAudit,
  ids: readonly number[],
  { progress, signal }: Verification,
  watchers: readonly Watcher[],
): Check {
  return async (report) => {
    const found = new Set<string>();
    const known: Watcher = {
      see: ({ stream }) => void found.add(stream),
      end: (whole) => {
        const unknown = whole ? ids.filter((id) => !found.has(`${deposits.prefix}${id}`)) : [];
        for (const id of unknown) {
          const text = `There is no deposit ${id} in the log.`;
          report.find({ check: 'log', code: 'DEPOSIT_UNKNOWN', text });
        }
      },
    };
    await history(
      () => ofStreams(log, ids),
      [...logWatchers(report, log, { alongLog: false }), known, ...watchers],
      {
        progress: (events) => progress?.('events verified', events),
        ...(signal && { signal }),
      },
    )(report);
  };
}

async function* ofStreams(log: LogAudit, ids: readonly number[]): AsyncGenerator<AuditedRecord> {
  yield* log.stream(IDS);
  for (const id of ids) yield* log.stream(`${deposits.prefix}${id}`);
}

function logWatchers(report: Report, log: LogAudit, order: { readonly alongLog: boolean }): Watcher[] {
  const heads = new StreamHeads();
  return [
    chainWatcher(report, heads),
    clockWatcher(report, heads, order),
    eventIdWatcher(report, log),
    codecWatcher(report),
    depositIdWatcher(report),
  ];
}

/** What was accepted once is not refused because of a limit or rule of today; only the time stays bounded. */
function withoutLimits(limits: ArchiveLimits): ArchiveLimits {
  const most = Number.MAX_SAFE_INTEGER;
  return {
    ...limits,
    unpackedBytes: most,
    ratio: most,
    members: most,
    pathBytes: most,
    nameBytes: most,
    depth: most,
    linkTargetBytes: most,
    rejectReplacedTargets: false,
  };
}
