import { type Identified, identify } from '../archives/identify.ts';
import {
  type PreparedArchive,
  type PrepareOptions,
  packingTime,
  prepareArchive,
} from '../archives/prepare-archive.ts';
import { isCached, PreparedCache, stateOfDigests } from '../archives/prepared-cache.ts';
import { READING_LIMITS, type UnpackedLimits } from '../archives/unpacked-limits.ts';
import { assertAccepted } from '../deposit/archive-limits.ts';
import { assertDryRun, dryRun } from '../deposit/dry-run.ts';
import { assertUtf8, entryFrom, METADATA_OPTIONS } from '../deposit/entry.ts';
import { type Target, targetOf } from '../deposit/find-deposit.ts';
import { agreesWith, exitCodeOf, statusFacts, statusLines } from '../deposit/format-status.ts';
import { assertSensible, planSteps, type Step } from '../deposit/plan.ts';
import { sendUpload } from '../deposit/send-upload.ts';
import { StoredKey } from '../deposit/stored-key.ts';
import { statusOf } from '../deposit/wait.ts';
import type { Receipt } from '../documents/deposit-documents.ts';
import { readEnvironment } from '../environment.ts';
import { about, Fault, UsageFault } from '../faults.ts';
import { Refused } from '../http/refused.ts';
import { type Output, pluralize } from '../output.ts';
import { Progress } from '../progress.ts';
import { COMMON_HELP, COMMON_OPTIONS, openSession, readArguments, type Session } from '../session.ts';
import { TemporaryFolder } from '../temporary-folder.ts';

export const HELP = `Creates a deposit from archives and folders with their metadata, or continues a partial one.

  deposit upload ARCHIVE|FOLDER… --name N --author A… [options]
  deposit upload ARCHIVE|FOLDER… --metadata FILE [options]
  deposit upload --deposit N [ARCHIVE|FOLDER…] [metadata] [--replace] [options]

An archive is a zip or a tar (plain, gzip, bzip2, xz). A folder is packed as a tar.gz whose root is the folder
itself, without .git; its identifier is that of the deposit. Several are merged: later files replace earlier ones.

Metadata:
--metadata FILE          an Atom entry, sent unchanged; or:
--name N, --author A…    for example --author "Ada Lovelace <ada@example.org>"
--version V, --url U, --description D, --license L…, --keyword K…, --date-created D, --date-published D
--provenance U           URL of the page or catalogue that the metadata come from

--dry-run                have the server check the deposit without creating it
--partial                more will follow: the deposit is not checked yet
--deposit N              continue this partial deposit (its number or its Edit-IRI)
--replace                with --deposit: replace its archives, its metadata, or both
--slug S                 last part of the origin URL, if the server builds origins from slugs
--exclude GLOB…          leave out of folders; a GLOB without a slash is matched with each name: *.o
--force                  upload even if local checks fail
--wait                   wait until the deposit is done, rejected or failed; then compare the identifiers
${COMMON_HELP}
An interrupted upload is resumed by the same command.

Exit codes: 0 success, 1 refused or failed, 2 wrong usage, 3 deposit rejected, or loading failed,
4 the identifier differs from the one computed here, 5 server unreachable or not ready, or connection lost.
`;

const OPTIONS = {
  ...COMMON_OPTIONS,
  ...METADATA_OPTIONS,
  'dry-run': { type: 'boolean' },
  partial: { type: 'boolean' },
  deposit: { type: 'string' },
  replace: { type: 'boolean' },
  slug: { type: 'string' },
  exclude: { type: 'string', multiple: true },
  force: { type: 'boolean' },
  wait: { type: 'boolean' },
} as const;

export async function run(args: string[]): Promise<number> {
  const { values, positionals: sources } = readArguments(args, OPTIONS);
  const { deposit, replace = false, partial = false, wait = false, slug, exclude = [] } = values;
  const isDryRun = values['dry-run'] ?? false;
  const mtime = packingTime(readEnvironment().sourceDateEpoch);
  const entry = entryFrom(values);
  assertUtf8('slug', slug);
  const wishes = { deposit, replace, partial };
  if (isDryRun) assertDryRun({ deposit, partial, wait }, sources);
  assertSensible(wishes, sources, entry);
  if (partial && wait)
    throw new UsageFault('--partial cannot be combined with --wait: a partial deposit is not checked.');
  if (slug !== undefined && deposit !== undefined) throw new UsageFault('--slug is for new deposits only.');

  const session = await openSession(values);
  const target = await targetOf(session.connection, deposit, values.collection);
  using folder = new TemporaryFolder();
  using cache = new PreparedCache();
  using progress = new Progress(session.output, 1 + Number(sources.length > 0) + Number(wait));
  const note = (text: string): void => session.output.note(text);
  const force = isDryRun || (values.force ?? false);
  const limits = force ? READING_LIMITS : target.service.unpackedLimits;
  const archives = await prepareAll(sources, { exclude, mtime, limits, folder, cache, progress, note });
  if (!isDryRun) for (const archive of archives) assertAccepted(archive, target.service, target.collection);
  const expected = await expectedIdentifier(archives, session.output, { force, limits, cache });
  const { collection, existing } = target;
  const isWhole = !existing || existing.archive === null || (replace && archives.length > 0);
  const upload = { ...session, target, archives, progress, expected: isWhole ? expected : null };
  const steps = planSteps(wishes, archives, entry);
  const [first] = steps;
  if (isDryRun && first) return await tryOut(first, slug, upload);
  if (archives.length > 0 && !isWhole)
    session.output.note('The deposit has other archives as well: its identifier cannot be computed here.');
  const { user } = session.connection.login;
  const stored = new StoredKey(steps, { collection, user, slug, deposit: existing?.links.edit, note });
  let state: Receipt;
  try {
    state = await sendUpload(steps, { ...upload, stored, slug });
  } catch (error) {
    if (error instanceof Refused && error.isFinal) cache.forget();
    throw error;
  }
  cache.forget();
  const exitCode = await finish(state, upload, wait);
  stored.forget();
  return exitCode;
}

async function prepareAll(
  sources: readonly string[],
  { progress, ...options }: Omit<PrepareOptions, 'progress'> & { readonly progress: Progress },
): Promise<PreparedArchive[]> {
  if (sources.length > 0) progress.begin(`Reading ${sources.join(', ')}`);
  const archives: PreparedArchive[] = [];
  for (const [at, source] of sources.entries())
    archives.push(await prepareArchive(source, { ...options, progress: progress.bars }, at + 1));
  return archives;
}

type Checking = { readonly force: boolean; readonly limits: UnpackedLimits; readonly cache: PreparedCache };

/**
 * Prints the identifier of the archives before anything is sent, and returns it. @throws {Fault} they would be
 * rejected.
 */
async function expectedIdentifier(
  archives: readonly PreparedArchive[],
  output: Output,
  { force, limits, cache }: Checking,
): Promise<string | null> {
  if (archives.length === 0) return null;
  const state = stateOfDigests(
    archives.flatMap(({ source, sha256, directory = '' }) => [source, sha256, directory]),
    limits,
  );
  const found = cache.find<Identified>(state)?.value ?? (await identifyOrForget(archives, { limits, cache }));
  if (found.outcome === 'faulty') return reportFaults(found, output, force);
  if (archives.some(isCached)) cache.store(state, found);
  for (const warning of found.warnings) output.note(`Warning: ${warning}`);
  output.note(`${pluralize(found.files, 'file')}, ${pluralize(found.bytes, 'byte')}: ${found.swhid}`);
  return found.swhid;
}

/** Forgets archives that differ from their sources: the cache may not notice a change that was undone. */
function identifyOrForget(
  archives: readonly PreparedArchive[],
  { limits, cache }: Omit<Checking, 'force'>,
): Promise<Identified> {
  return identify(archives, limits).catch((error: unknown) => {
    cache.forget();
    throw error;
  });
}

function reportFaults({ faults }: Identified & { outcome: 'faulty' }, output: Output, force: boolean): null {
  const lines = faults.map(({ text }) => `- ${text}`).join('\n');
  if (!force)
    throw new Fault(
      `The service would reject this upload:\n${lines}\nNothing was sent. To upload it nevertheless, use --force.`,
    );
  output.note(`The service would reject this upload:\n${lines}`);
  return null;
}

type Upload = Session & {
  readonly target: Target;
  readonly archives: readonly PreparedArchive[];
  readonly progress: Progress;
  /** Identifier of the whole deposit, if it is known. */
  readonly expected: string | null;
};

/** Has the server check the deposit without creating it. */
async function tryOut(create: Step, slug: string | undefined, upload: Upload): Promise<number> {
  const { connection, output, target, archives, progress, expected } = upload;
  progress.begin(`Checking on ${connection.server.origin}`);
  progress.leaves(() => 'Nothing was stored.');
  const onSent = (bytes: number, of: number): void => progress.sent('', bytes, of);
  const { status, detail } = await dryRun(create, target, { connection, slug, onSent });
  const facts = { dryRun: true, status, detail, expectedSwhid: expected, archives: archives.map(factsOf) };
  output.result(facts, `Dry run: ${status}`, ...(detail === null ? [] : [detail]));
  return exitCodeOf({ status, swhid: null });
}

async function finish({ deposit, links }: Receipt, uploaded: Upload, wait: boolean): Promise<number> {
  const { output, archives, expected, target, progress } = uploaded;
  output.note(`Deposit ${deposit} of the collection ${target.collection.name}: ${links.edit}`);
  progress.leaves(() => `Deposit ${deposit} is stored. Follow it with deposit status ${deposit} --wait.`);
  if (wait) progress.begin('Waiting until it is checked and loaded');
  const status = await about(deposit, () => statusOf({ deposit, links }, wait, uploaded));
  const facts = {
    ...statusFacts(status),
    collection: target.collection.name,
    edit: links.edit,
    expectedSwhid: expected,
    swhidAgrees: agreesWith(expected, status),
    archives: archives.map(factsOf),
  };
  output.result(facts, ...statusLines(status, expected));
  return exitCodeOf(status, expected);
}

function factsOf({ source, filename, format, length, md5, sha256 }: PreparedArchive) {
  return { source, filename, format, length, md5, sha256 };
}
