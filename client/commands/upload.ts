import { ProgressBars } from '../../src/tools/terminal/progress-bar.ts';
import { type Identified, identify } from '../archives/identify.ts';
import { type PreparedArchive, packingTime, prepareArchive } from '../archives/prepare-archive.ts';
import { assertAccepted, carriageOf } from '../deposit/carriage.ts';
import { entryFrom, METADATA_OPTIONS } from '../deposit/entry.ts';
import { compareIdentifiers, exitCodeOf, statusFacts, statusLines } from '../deposit/format-status.ts';
import { type DepositState, perform } from '../deposit/perform.ts';
import { assertSensible, planSteps } from '../deposit/plan.ts';
import { type Target, targetOf } from '../deposit/target.ts';
import { statusOf } from '../deposit/wait.ts';
import { readEnvironment } from '../environment.ts';
import { about, Fault, UsageFault } from '../faults.ts';
import { type Output, pluralize } from '../output.ts';
import { COMMON_HELP, COMMON_OPTIONS, openSession, readArguments, type Session } from '../session.ts';
import { TemporaryFolder } from '../temporary-folder.ts';

export const HELP = `Makes a deposit of archives and folders with their metadata, or goes on with a partial one.

  deposit upload ARCHIVE|FOLDER… --name N --author A… [options]
  deposit upload ARCHIVE|FOLDER… --metadata FILE [options]
  deposit upload --deposit N [ARCHIVE|FOLDER…] [metadata] [--replace] [options]

An archive is a zip or a tar (plain, gzip, bzip2, xz). A folder is packed as a tar.gz whose root is the folder
itself, without .git; its identifier is that of the deposit. Of several, the later ones lie over the earlier ones.

Metadata:
--metadata FILE          an Atom entry, sent as it is; or:
--name N, --author A…    as in --author "Ada Lovelace <ada@example.org>"
--version V, --url U, --description D, --license L…, --keyword K…, --date-created D, --date-published D

--partial                more is to come: the deposit is not checked yet
--deposit N              go on with this partial deposit (its number, or its Edit-IRI)
--replace                with --deposit: replace its archives, its metadata, or both, by what is given
--slug S                 becomes the end of the origin of a new deposit, where the server has such origins
--exclude GLOB…          leave out of folders; a GLOB without a slash is matched with each name: *.o
--force                  send archives that the checks here find fault with
--wait                   until it is done, rejected or failed; then compare the identifiers
${COMMON_HELP}
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 the deposit was rejected or failed at loading,
4 the identifier differs from the one computed here, 5 the server cannot be reached or is not ready, or the connection
was lost.
`;

const OPTIONS = {
  ...COMMON_OPTIONS,
  ...METADATA_OPTIONS,
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
  const { deposit, replace = false, partial = false, slug, force = false, exclude = [] } = values;
  const mtime = packingTime(readEnvironment().sourceDateEpoch);
  const entry = entryFrom(metadataIn(values));
  const wishes = { deposit, replace, partial };
  assertSensible(wishes, sources, entry);
  if (partial && values.wait)
    throw new UsageFault('--partial and --wait exclude one another: a partial deposit is not checked.');
  if (slug !== undefined && deposit !== undefined) throw new UsageFault('--slug is for new deposits only.');

  const session = await openSession(values);
  const target = await targetOf(session.connection, deposit, values.collection);
  using folder = new TemporaryFolder();
  const archives = await prepareAll(sources, { exclude, mtime, folder });
  for (const archive of archives) assertAccepted(archive, target.service, target.collection);
  const expected = await expectedIdentifier(archives, session.output, force);
  const isWhole = !target.hasArchives || (replace && archives.length > 0);
  if (archives.length > 0 && !isWhole)
    session.output.note(
      'The deposit has other archives as well: its own identifier is not known beforehand.',
    );

  const carriage = (archive: PreparedArchive) => carriageOf(archive, target.service, target.collection);
  const standing = await send(planSteps(wishes, archives, entry, carriage), target, slug, session);
  return finish(
    standing,
    { ...session, target, archives, expected: isWhole ? expected : null },
    values.wait ?? false,
  );
}

function metadataIn(values: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.keys(METADATA_OPTIONS).map((name) => [name, values[name]]));
}

async function prepareAll(
  sources: readonly string[],
  options: { readonly exclude: readonly string[]; readonly mtime: Date; readonly folder: TemporaryFolder },
): Promise<PreparedArchive[]> {
  using progress = new ProgressBars();
  const archives: PreparedArchive[] = [];
  for (const [at, source] of sources.entries())
    archives.push(await prepareArchive(source, { ...options, progress }, at + 1));
  return archives;
}

/**
 * Prints the identifier of the archives before anything is sent, and returns it. @throws {Fault} they would be
 * rejected.
 */
async function expectedIdentifier(
  archives: readonly PreparedArchive[],
  output: Output,
  force: boolean,
): Promise<string | null> {
  if (archives.length === 0) return null;
  const found = await identify(archives);
  if (found.outcome === 'faulty') return reportFaults(found, output, force);
  for (const warning of found.warnings) output.note(`Warning: ${warning}`);
  output.note(`${pluralize(found.files, 'file')}, ${pluralize(found.bytes, 'byte')}: ${found.swhid}`);
  return found.swhid;
}

function reportFaults({ faults }: Identified & { outcome: 'faulty' }, output: Output, force: boolean): null {
  const lines = faults.map(({ text }) => `- ${text}`).join('\n');
  if (!force)
    throw new Fault(
      `A service of this kind would reject what is to be uploaded:\n${lines}\nNothing was sent; --force sends it all the same.`,
    );
  output.note(`A service of this kind would reject this:\n${lines}`);
  return null;
}

async function send(
  steps: ReturnType<typeof planSteps>,
  { service, collection, standing }: Target,
  slug: string | undefined,
  { connection, output }: Session,
): Promise<DepositState> {
  using progress = new ProgressBars();
  const total = steps.length;
  const onSent = (step: (typeof steps)[number], bytes: number, of: number): void => {
    const which = total > 1 ? `, request ${steps.indexOf(step) + 1} of ${total}` : '';
    progress.at(`bytes sent${which}`, bytes, of);
  };
  try {
    return await perform(steps, standing, {
      connection,
      service,
      collection,
      slug,
      onSent,
      note: (text) => output.note(text),
    });
  } catch (error) {
    if (error instanceof Fault && error.deposit !== null) output.note(resumeAdvice(error.deposit));
    throw error;
  }
}

function resumeAdvice(deposit: string): string {
  return `Deposit ${deposit} is there, with what was sent before this: go on with deposit upload --deposit ${deposit}, or remove it with deposit delete ${deposit}.`;
}

type Uploaded = Session & {
  readonly target: Target;
  readonly archives: readonly PreparedArchive[];
  /** Identifier of the whole deposit, if it is known. */
  readonly expected: string | null;
};

async function finish({ deposit, links }: DepositState, uploaded: Uploaded, wait: boolean): Promise<number> {
  const { output, archives, expected, target } = uploaded;
  output.note(`Deposit ${deposit} of the collection ${target.collection.name}: ${links.edit}`);
  const status = await about(deposit, () => statusOf({ deposit, links }, wait, uploaded));
  const comparison = compareIdentifiers(status, expected);
  const facts = {
    ...statusFacts(status),
    collection: target.collection.name,
    edit: links.edit,
    expectedSwhid: expected,
    swhidAgrees: comparison.agrees,
    archives: archives.map(factsOf),
  };
  output.result(facts, ...statusLines(status, comparison));
  return exitCodeOf(status, comparison);
}

function factsOf({ source, filename, format, length, md5, sha256 }: PreparedArchive) {
  return { source, filename, format, length, md5, sha256 };
}
