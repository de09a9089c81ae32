import { existsSync } from 'node:fs';
import path from 'node:path';
import { publicAnchorKey } from '../src/anchors/anchor-key.ts';
import { type Config, readConfig } from '../src/config.ts';
import { openLog, viewsPlace } from '../src/engines.ts';
import { Report } from '../src/verification/report.ts';
import { ResumePoint } from '../src/verification/resume-point.ts';
import { type Verification, verifyService } from '../src/verification/verify-service.ts';
import { readArguments, runCommand, UsageError } from './command.ts';
import { ProgressBars } from './progress-bar.ts';
import { stopSignal } from './stop-signal.ts';
import { summaryOf, summaryText } from './verification-summary.ts';

const HELP = `Proves that neither history nor bytes were altered, or names what was. Writes nothing; the service may run.

  npm run verify -- --all [--resume] [--state FILE]
  npm run verify -- DEPOSIT…
  npm run verify -- --anchors FILE [--key PUBLIC.pem]…     the log alone, against anchors kept elsewhere
  npm run verify -- --all --anchors FILE [--key PUBLIC.pem]…
      each with [--limit N] [--json]

The log: every hash recomputed, every event linked to the one before it in its stream, no revision or position left
out, ids, what the types of events are, which deposit ids were handed out; and the files of the embedded log.
The objects: every archive, entry, listing and manifest that an event names, read and hashed again, and its length;
with --all all others in the store, too.
The identifiers: the archives of every loaded deposit are read again, its tree and its SWHIDs computed anew.
The views of this node: built anew from the log and compared, with --all.
The anchors: the signature of each, and the root over the log as it was then; those in the log always, those in FILE
when it is given. Without --key they must be signed with the key of this data folder, which proves less: whoever
can write here could have signed them.

--resume: goes on where an interrupted --all was; objects and deposits that were proven then are not read again.
--state: where it is remembered (default: verify-state.json in the data folder).
--limit: findings that are printed (default 1000); all are counted.
--json: a line for each finding, then the summary.
Exit codes: 0 all proven, 1 something was found or could not be read, 2 wrong usage.
`;

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
  if (what !== 'all' && (values.resume || values.state)) {
    throw new UsageError('--resume and --state are for --all.');
  }
  if (values.key && values.anchors === undefined) throw new UsageError('--key is for --anchors.');
  const report = new Report({
    limit: numberOf('--limit', values.limit),
    tell: (finding) => say(values.json ? json({ finding }) : `${finding.check}: ${finding.text}\n`),
  });
  const anchors =
    values.anchors === undefined ? {} : await anchorsOf(config, values.anchors, values.key, report);
  const state = path.resolve(values.state ?? path.join(config.dataDir, 'verify-state.json'));
  const from = values.resume ? await ResumePoint.interrupted(state) : undefined;
  if (values.resume && !from) report.notes.push(`${state} tells of no interrupted run: this one began anew.`);
  await withBars(
    config,
    { what, ...anchors, ...(what === 'all' && { resume: { file: state, from } }) },
    report,
  );
  say(values.json ? json({ summary: summaryOf(report) }) : summaryText(report));
  return report.findings > 0 ? 1 : 0;
});

async function withBars(config: Config, verification: Verification, report: Report): Promise<void> {
  using bars = new ProgressBars();
  const progress = bars.at.bind(bars);
  const signal = stopSignal('Stopped. With --all, --resume goes on from here.');
  const [folder, origin] = viewsPlace(config);
  const views = { folder, origin, openLog: () => openLog(config, { readOnly: true }) };
  await verifyService(config, { ...verification, views, progress, signal }, report);
}

function whatOf(all: boolean, ids: readonly string[], anchorFile: string | undefined): Verification['what'] {
  if (all && ids.length > 0) throw new UsageError('Give --all or deposits, not both.');
  if (ids.length > 0 && anchorFile !== undefined) {
    throw new UsageError('--anchors is about the whole log: give it without deposits.');
  }
  if (all) return 'all';
  if (ids.length === 0 && anchorFile === undefined)
    throw new UsageError('Give --all, --anchors or deposits.');
  return ids.length === 0 ? 'log' : ids.map((id) => numberOf('DEPOSIT', id));
}

async function anchorsOf(
  { anchorKeyFile }: Config,
  file: string,
  keyFiles: readonly string[] = [],
  report: Report,
): Promise<Pick<Verification, 'anchorFile' | 'anchorKeys'>> {
  if (!existsSync(file)) throw new UsageError(`There is no ${file}.`);
  const keys = [];
  for (const keyFile of keyFiles.length > 0 ? keyFiles : [anchorKeyFile]) {
    const key = await publicAnchorKey(keyFile);
    if (!key) throw new UsageError(`There is no key ${keyFile}: name the public key with --key.`);
    keys.push(key);
  }
  if (keyFiles.length === 0) {
    report.notes.push(
      `The key of the anchors was taken from ${anchorKeyFile}, beside the log: one that was kept elsewhere, given with --key, proves more.`,
    );
  }
  return { anchorFile: file, anchorKeys: keys };
}

function numberOf(name: string, text: string): number {
  if (/^[1-9][0-9]*$/.test(text)) return Number(text);
  throw new UsageError(`${name} must be a whole number from 1, not ${text}.`);
}

function json(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** On a terminal the line of a bar may stand there. */
function say(text: string): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  process.stdout.write(text);
}
