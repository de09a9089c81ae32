import type { KeyObject } from 'node:crypto';
import path from 'node:path';
import type { Config } from '../src/config/config.ts';
import { readConfig } from '../src/config/read-config.ts';
import { BadAnchorKey, publicAnchorKey, publicAnchorKeys } from '../src/modules/anchors/anchor-key.ts';
import { readArguments, wholeNumber } from '../src/operations/command/arguments.ts';
import { runCommand, stopSignal, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say, warn } from '../src/operations/command/output.ts';
import { assertEnginesOfService, serviceOn } from '../src/operations/command/service-engines.ts';
import { Report } from '../src/operations/verify/report.ts';
import { ResumePoint } from '../src/operations/verify/resume-point.ts';
import { summaryOf, summaryText } from '../src/operations/verify/verification-summary.ts';
import { type Verification, verifyService } from '../src/operations/verify/verify-service.ts';
import type { ServedViews } from '../src/operations/verify/views-check.ts';
import { assertExists } from '../src/service/backends/backend-not-found.ts';
import { recordSuccess } from '../src/service/backends/last-success.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { assertNoUnfinishedCopy } from '../src/service/backends/unfinished-copy.ts';
import { viewDirectory } from '../src/service/backends/view-directory.ts';
import { exists } from '../src/tools/files/access.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';

const HELP = `Proves that neither history nor bytes were altered, or names what was. The service may run.

Usage: deposit-service verify --all [--anchors FILE] [--key PUBLIC.pem]… [--resume] [--state FILE]
       deposit-service verify --anchors FILE [--key PUBLIC.pem]…     the log alone, against anchors stored elsewhere
       deposit-service verify DEPOSIT…                               these deposits and all that they need
       each with [--limit N] [--json]

Log          every hash recomputed, every event linked to the one before it in its stream, no revision or position left
             out, ids, types of events, deposit ids that were given out; the files of the embedded log
Objects      every archive, entry, listing and manifest that an event names, read and hashed again, with the length and
             the MD5 of the event; with --all all other objects, too
Identifiers  the archives of every loaded deposit read again, its tree and its SWHIDs recomputed
Views        with --all: rebuilt from the log and compared. Views that cannot be compared are listed
Anchors      the signature of each, and the root over the log; those in the log with --all, those in FILE if it is given.
             Only anchors stored elsewhere reveal a truncated or rewritten log; DEPOSIT… is not compared with any

--key     the anchors must be signed with one of these keys; a file may have several. Without it the key of this data
          folder is used, which proves less: someone who can write here could have signed them
--resume  continue an interrupted --all; objects and deposits that were proven then are not read again
--state   file for the progress (default: verify-state.json in the data folder). --resume trusts it
--limit   findings that are printed (default 1000); all are counted
--json    one JSON object per finding, then the summary

Notes report what was not checked, and change no exit code.
Exit codes: 0 all proven, 1 something was found or could not be read, 2 wrong usage.
`;

const STORE = ['archiveStore'] as const;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    all: { type: 'boolean' },
    anchors: { type: 'string' },
    key: { type: 'string', multiple: true },
    resume: { type: 'boolean' },
    state: { type: 'string' },
    limit: { type: 'string', default: '1000' },
    json: { type: 'boolean', default: false },
  });
  const config = readConfig();
  const what = whatOf(values.all ?? false, positionals, values.anchors);
  const isWhole = typeof what === 'string';
  if (config.eventLog.kind === 'sqlite' && !exists(config.dataDir))
    assertExists('event log', config.eventLog.file);
  if (what !== 'all' && (values.resume || values.state)) {
    throw new UsageError('--resume and --state need --all.');
  }
  if (values.key && !isWhole) throw new UsageError('--key needs --all or --anchors.');
  await assertNoUnfinishedCopy(config.eventLog);
  const report = new Report({
    limit: numberOf('--limit', values.limit),
    onFinding: (finding) => say(values.json ? jsonLine({ finding }) : `${finding.check}: ${finding.text}`),
  });
  const anchors = isWhole ? await anchorsOf(config, values.anchors, values.key, report) : {};
  // Something missing is a finding. A missing store or permission, or a backend of another service, is an error.
  if (what !== 'log' && config.archiveStore.kind === 'file')
    assertExists('archive store', config.archiveStore.folder);
  const unasked = await assertEnginesOfService(config, 'eventLog', ...(what === 'log' ? [] : STORE));
  if (unasked !== undefined) report.notes.push(unasked);
  const state = path.resolve(values.state ?? path.join(config.dataDir, 'verify-state.json'));
  if (values.state !== undefined && !(await ResumePoint.mayReplace(state)))
    throw new UsageError(`--state ${state} exists and is not such a file of progress: give another path.`);
  const from = values.resume ? await ResumePoint.interrupted(state) : undefined;
  if (values.resume && !from)
    report.notes.push(`${state} records no interrupted run: this one started from the beginning.`);
  await withBars(
    config,
    { what, ...anchors, ...(what === 'all' && { resume: { file: state, from } }) },
    unasked === undefined && what === 'all' ? await servedViews(config) : [],
    report,
  );
  if (what === 'all' && !anchors.anchorKeys && !anchors.ownAnchorKey && report.counts.anchors > 0) {
    report.notes.push(
      `The signer of the anchors was not verified: ${config.anchorKeyFile} is missing, unreadable or not a public key. Give the public key with --key.`,
    );
  }
  say(values.json ? jsonLine({ summary: summaryOf(report) }) : summaryText(report));
  if (what === 'all' && report.findings === 0) {
    const problem = await recordSuccess(config.dataDir, 'verification');
    if (problem !== undefined) warn(problem);
  }
  return report.findings > 0 ? 1 : 0;
});

/** Resolves to the views that a running service has built: none without one. */
async function servedViews(config: Config): Promise<ServedViews> {
  return (await (await serviceOn(config))?.stateWhenFound())?.views ?? [];
}

async function withBars(
  config: Config,
  verification: Verification,
  served: ServedViews,
  report: Report,
): Promise<void> {
  using bars = new ProgressBars();
  const progress = bars.at.bind(bars);
  const signal = stopSignal('Stopped. Resume with --all --resume.');
  const [folder, origin] = viewDirectory(config);
  const views = { folder, origin, openLog: () => openLog(config, { readOnly: true }), served };
  await verifyService(config, { ...verification, views, progress, signal }, report);
}

function whatOf(all: boolean, ids: readonly string[], anchorFile: string | undefined): Verification['what'] {
  if (all && ids.length > 0) throw new UsageError('--all cannot be combined with deposits.');
  if (ids.length > 0 && anchorFile !== undefined) {
    throw new UsageError('--anchors cannot be combined with deposits.');
  }
  if (all) return 'all';
  if (ids.length === 0 && anchorFile === undefined)
    throw new UsageError('Give --all, --anchors or deposits.');
  return ids.length === 0 ? 'log' : [...new Set(ids.map((id) => numberOf('DEPOSIT', id)))];
}

async function anchorsOf(
  { anchorKeyFile }: Config,
  file: string | undefined,
  keyFiles: readonly string[] = [],
  report: Report,
): Promise<Pick<Verification, 'anchorFile' | 'anchorKeys' | 'ownAnchorKey'>> {
  if (file !== undefined && !exists(file)) throw new UsageError(`${file} not found.`);
  const anchors = file === undefined ? {} : { anchorFile: file };
  if (keyFiles.length > 0) return { ...anchors, anchorKeys: await keysIn(keyFiles) };
  if (file === undefined) {
    const ownAnchorKey = await publicAnchorKey(anchorKeyFile)
      .catch(ignorePermissionError)
      .catch((error: unknown) => findBadKey(error, anchorKeyFile, report));
    return ownAnchorKey ? { ownAnchorKey } : {};
  }
  report.notes.push(
    `The key of the anchors was read from ${anchorKeyFile}, next to the log. A key stored elsewhere and given with --key proves more.`,
  );
  return { ...anchors, anchorKeys: await keysIn([anchorKeyFile]) };
}

async function keysIn(files: readonly string[]): Promise<KeyObject[]> {
  const keys = [];
  for (const file of files) {
    const found = await publicAnchorKeys(file).catch(ignorePermissionError);
    if (!found)
      throw new UsageError(`${file} is missing or unreadable: give the file of the public key with --key.`);
    keys.push(...found);
  }
  return keys;
}

/** Ignores a missing permission: only its owner can read a private key. */
function ignorePermissionError(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EACCES') throw error;
}

/** Reports an unreadable key as a finding, so that the other checks still run. */
function findBadKey(error: unknown, file: string, report: Report): undefined {
  if (!(error instanceof BadAnchorKey)) throw error;
  report.find({ check: 'anchors', code: 'ANCHOR_KEY_UNREADABLE', text: error.message, file });
}

function numberOf(name: string, text: string): number {
  const number = wholeNumber(text);
  if (number !== undefined) return number;
  throw new UsageError(`${name} must be a whole number from 1, not ${text}.`);
}
