import type { KeyObject } from 'node:crypto';
import type { ArchiveLimits } from '../../archives/archive-reader.ts';
import { ArchiveWorkers } from '../../archives/workers/archive-workers.ts';
import type { Config } from '../../config/config.ts';
import { IDS } from '../../deposits/deposit-ids.ts';
import { deposits } from '../../domain/aggregates.ts';
import type { AuditedRecord, LogAudit } from '../../event-log/integrity/log-audit.ts';
import { StreamHeads } from '../../event-log/integrity/stream-heads.ts';
import { publicKeyOf } from '../../modules/anchors/anchor.ts';
import type { StoreAudit } from '../../object-store/object-store.ts';
import { openLogAudit, openStoreAudit } from '../../service/backends/open-audits.ts';
import { anchorsToCompare } from './anchor-sources.ts';
import { anchorCheck } from './checks/anchor.ts';
import { chainCheck } from './checks/chain.ts';
import { clockCheck } from './checks/clock.ts';
import { codecCheck } from './checks/codec.ts';
import { depositIdCheck } from './checks/deposit-id.ts';
import { eventIdCheck } from './checks/event-id.ts';
import { identifierCheck } from './checks/identifier.ts';
import { objectCheck } from './checks/object.ts';
import { ObjectProofs } from './checks/object-proofs.ts';
import { orphanObjects } from './checks/orphan-objects.ts';
import { storeBindingCheck } from './checks/store-binding.ts';
import { streamNameCheck } from './checks/stream-name.ts';
import { stuckCheck } from './checks/stuck.ts';
import { type LogCheck, logPass } from './log-pass.ts';
import type { Check, Report } from './report.ts';
import { type Interrupted, ResumePoint } from './resume-point.ts';
import { type ShownViews, viewsCheck } from './views-check.ts';

export type Verification = {
  /** Scope: everything, the log alone, or these deposits with all that they need. */
  readonly what: 'all' | 'log' | readonly number[];
  /** File of anchors stored apart from the log, and the keys that may have signed them. */
  readonly anchorFile?: string;
  readonly anchorKeys?: readonly KeyObject[];
  /** Key of this data folder; without other keys, anchors of other keys are reported. */
  readonly ownAnchorKey?: KeyObject;
  /** File with the progress of a complete verification, and the progress that an interrupted run has left there. */
  readonly resume?: { readonly file: string; readonly from: Interrupted | undefined };
  /** Views of this node, to be compared with the log. */
  readonly views?: ShownViews;
  readonly progress?: (what: string, done: number, total?: number) => void;
  readonly signal?: AbortSignal;
};

/**
 * Proves that neither the history nor the bytes of a service were altered, or finds what was. Writes nothing but the
 * file to resume from; the service may run.
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
      ? [fileIntegrity(log), wholeLog(log, verification, [])]
      : await objectChecks(config, { ...verification, what }, { log, resume, report, resources });
  for (const check of checks) await check(report);
  if (verification.anchorFile === undefined)
    report.notes.push(what === 'all' ? WITHOUT_ANCHORS : BY_THEMSELVES);
  if (verification.resume?.from) report.notes.push(trustedNote(verification.resume.file));
  if (resume.saveError !== undefined) {
    report.notes.push(`An interrupted run could not have been resumed: ${resume.saveError}.`);
  }
  await resume.done();
}

const trustedNote = (file: string): string =>
  `What the interrupted run has proven, according to ${file}, was not read again. Anyone who can write that file could have changed it; --state stores it elsewhere.`;
const WITHOUT_ANCHORS =
  'No external anchors were given, so a truncated or rewritten log would not be noticed. Create anchors with "deposit-service anchor --file" or DEPOSIT_ANCHOR_FILE, and pass them with --anchors.';
const BY_THEMSELVES =
  'Counted are the events of these deposits and of ids-deposit, where ids of deposits are reserved, and the archives, entries, listings and manifests that they name. Each deposit was verified by itself, without anchors: only --all or --anchors with external anchors reveals missing last events or a rewritten stream.';

type Parts = {
  readonly log: LogAudit;
  readonly resume: ResumePoint;
  readonly report: Report;
  readonly resources: AsyncDisposableStack;
};

/** Returns the checks of log and objects in the order in which they run. */
async function objectChecks(
  config: Config,
  verification: Verification & { readonly what: 'all' | readonly number[] },
  { log, resume, report, resources }: Parts,
): Promise<Check[]> {
  const store = resources.use(await openStoreAudit(config.archiveStore, config.dataDir));
  const reader = resources.use(
    new ArchiveWorkers({ size: config.archiveWorkers, mergeTime: config.archiveLimits.wallTime }),
  );
  const proofs = new ObjectProofs(store, report);
  const limits = withoutLimits(config.archiveLimits);
  const sources = { log, store, reader, limits, concurrency: config.archiveWorkers + 1 };
  const further = [
    objectCheck(report, store, proofs, resume),
    identifierCheck(report, sources, resume),
    stuckCheck(report, config.stuckAfter),
  ];
  const { what, progress, views, signal } = verification;
  if (what !== 'all') return [selectedDeposits(log, what, verification, further)];
  return [
    fileIntegrity(log),
    fileIntegrity(store),
    wholeLog(log, verification, [...further, resume]),
    storeBindingCheck(log, store),
    orphanObjects(store, proofs, (done) => progress?.('other objects read', done)),
    ...(views ? [viewsCheck(views, (events) => progress?.('events shown', events), signal)] : []),
  ];
}

/** Checks the files of a backend as far as it can itself: trees, indexes, schema, recorded end. */
function fileIntegrity(engine: Pick<LogAudit | StoreAudit, 'structure'>): Check {
  return async (report) => {
    for (const { file, text } of await engine.structure()) {
      report.find({
        check: 'files',
        code: 'FILE_DAMAGED',
        text: `${file}: ${text.replace(/\.$/, '')}.`,
        file,
      });
    }
  };
}

function wholeLog(
  log: LogAudit,
  { anchorFile, anchorKeys = [], ownAnchorKey, progress, signal }: Verification,
  further: readonly LogCheck[],
): Check {
  return async (report) => {
    const keys = anchorKeys.map(publicKeyOf);
    const sources = { file: anchorFile, keys, ...(ownAnchorKey && { ownKey: publicKeyOf(ownAnchorKey) }) };
    const anchors = await anchorsToCompare(log, sources, report);
    const total = await log.count();
    const all = [...logChecks(report, log, { alongLog: true }), anchorCheck(report, anchors), ...further];
    await logPass(report, log.events(), all, {
      progress: (events) => progress?.('events verified', events, total),
      signal,
    });
  };
}

function selectedDeposits(
  log: LogAudit,
  ids: readonly number[],
  { progress, signal }: Verification,
  further: readonly LogCheck[],
): Check {
  return async (report) => {
    const found = new Set<string>();
    const known: LogCheck = {
      see: ({ stream }) => void found.add(stream),
      end: (whole) => {
        const unknown = whole ? ids.filter((id) => !found.has(`${deposits.prefix}${id}`)) : [];
        for (const id of unknown) {
          const text = `Deposit ${id} not found in the event log.`;
          report.find({ check: 'log', code: 'DEPOSIT_UNKNOWN', text });
        }
      },
    };
    const all = [...logChecks(report, log, { alongLog: false }), known, ...further];
    await logPass(report, ofStreams(log, ids), all, {
      progress: (events) => progress?.('events verified', events),
      signal,
    });
  };
}

async function* ofStreams(log: LogAudit, ids: readonly number[]): AsyncGenerator<AuditedRecord> {
  yield* log.stream(IDS);
  for (const id of ids) yield* log.stream(`${deposits.prefix}${id}`);
}

function logChecks(report: Report, log: LogAudit, order: { readonly alongLog: boolean }): LogCheck[] {
  const heads = new StreamHeads();
  return [
    chainCheck(report, heads),
    clockCheck(report, heads, order),
    eventIdCheck(report, log),
    codecCheck(report),
    streamNameCheck(report),
    depositIdCheck(report),
  ];
}

/** Lifts today's limits on archives except for the time: an archive that was accepted is not refused. */
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
    rejectAmbiguities: false,
  };
}
