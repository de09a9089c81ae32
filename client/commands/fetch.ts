import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { random } from '../../src/tools/random.ts';
import { archivesIn } from '../archives/archives-in.ts';
import { identify, type ReadableArchive } from '../archives/identify.ts';
import { type Downloaded, downloadTo } from '../deposit/download.ts';
import { type OpenedDeposit, withDeposit } from '../deposit/find-deposit.ts';
import { StoredDownload } from '../deposit/stored-download.ts';
import { statusOf } from '../deposit/wait.ts';
import { EXIT, Fault, numberOrIri, reasonOf, UsageFault } from '../faults.ts';
import { formatNumber } from '../output.ts';
import { Progress } from '../progress.ts';
import { COMMON_HELP, COMMON_OPTIONS, readArguments } from '../session.ts';
import { removeFile } from '../state-files.ts';
import { TemporaryFolder } from '../temporary-folder.ts';

export const HELP = `Downloads the archive of a deposit, or a zip of its archives. Verifies the length and the digests that the server
announces and, if the deposit is done, its identifier.

  deposit fetch N [--output FILE] [options]

N is the number of the deposit or its Edit-IRI.
--output FILE   target file (default: the name that the server gives, in the current folder); - is standard output
--force         overwrite an existing file
${COMMON_HELP}
Exit codes: 0 success, 1 refused, failed, or not what the server announced, 2 wrong usage,
4 the identifier does not match the deposit, 5 server unreachable or not ready.
`;

export async function run(args: string[]): Promise<number> {
  const options = { ...COMMON_OPTIONS, output: { type: 'string' }, force: { type: 'boolean' } } as const;
  const { values, positionals } = readArguments(args, options);
  const { output: wish, force = false } = values;
  if (wish === '-' && values.json) throw new UsageFault('--json cannot be combined with --output -.');
  if (wish === '') throw new UsageFault('--output needs the name of a file, or - for standard output.');
  if (wish !== undefined) assertFree(wish, force);
  return withDeposit(positionals, values, (opened) => fetchTo(wish, force, opened));
}

/** Downloads the archive to this file or, by default, to the name that the server gives. Resolves to the exit code. */
async function fetchTo(
  wish: string | undefined,
  force: boolean,
  { connection, output, deposit, links }: OpenedDeposit,
): Promise<number> {
  if (links.media === null)
    throw new Fault(`The server does not say where the archives of deposit ${deposit} are.`);
  const { swhid } = await statusOf({ deposit, links }, false, { connection, output });

  using folder = new TemporaryFolder();
  using progress = new Progress(output, 1);
  const stored = new StoredDownload(links.media, connection.login.user, () => folder.path);
  progress.leaves(() =>
    stored.isContinuable
      ? 'Run the same command again to resume.'
      : 'Nothing was stored: the same command starts over.',
  );
  const downloaded = await downloadTo(stored, links.media, { connection, output, progress });
  const { file } = stored;
  const found =
    swhid === null ? null : await identifierOf({ source: file, file, ...downloaded }, folder.path);
  const identifiers = { swhid, foundSwhid: found, swhidAgrees: swhid === null ? null : found === swhid };
  const target = wish ?? downloaded.filename;
  await place(file, target, force);
  stored.remove();

  const lines = linesOf(target, downloaded, identifiers);
  // Standard output may contain the archive.
  if (target === '-') output.note(lines.join('\n'));
  else
    output.result({ deposit: numberOrIri(deposit), file: target, ...downloaded, ...identifiers }, ...lines);
  return identifiers.swhidAgrees === false ? EXIT.identifierDiffers : EXIT.done;
}

/**
 * Returns the identifier, or `null` if the archive cannot be read. Several archives come as a zip, which is not itself
 * an archive of sources.
 */
async function identifierOf(archive: ReadableArchive, folder: string): Promise<string | null> {
  const found = await identify([archive]);
  if (found.outcome === 'identified') return found.swhid;
  if (!found.faults.some(({ code }) => code === 'ONLY_ARCHIVES')) return null;
  const several = await identify(await archivesIn(archive.file, folder));
  return several.outcome === 'identified' ? several.swhid : null;
}

function assertFree(target: string, force: boolean): void {
  if (target === '-' || force || !existsSync(target)) return;
  throw new Fault(`${target} already exists: choose another --output, or overwrite it with --force.`);
}

/** Copies the file to the target, which keeps its mode if it exists. A part of the file never has that name. */
async function place(file: string, target: string, force: boolean): Promise<void> {
  if (target === '-')
    return pipeline(createReadStream(file), process.stdout, { end: false }).catch(unlessReaderGone);
  assertFree(target, force);
  try {
    const existing = existsSync(target) ? statSync(target) : undefined;
    if (existing && !existing.isFile())
      // such as a pipe
      return await pipeline(createReadStream(file), createWriteStream(target));
    const real = existing ? realpathSync(target) : target;
    const incoming = path.join(path.dirname(real), `.${random.uuid()}`);
    try {
      if (existing) chmodSync(file, existing.mode); // the copy has it from its first byte
      copyFileSync(file, incoming, constants.COPYFILE_EXCL);
      if (!force) closeSync(openSync(target, 'wx'));
      renameSync(incoming, real);
    } finally {
      removeFile(incoming);
    }
  } catch (error) {
    throw new Fault(`${target} cannot be written: ${reasonOf(error)}.`);
  }
}

/** A reader that closes the pipe, as `head` does, wants no more. */
function unlessReaderGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

type Identifiers = { readonly swhid: string | null; readonly swhidAgrees: boolean | null };

function linesOf(
  target: string,
  { length, sha256, verified }: Downloaded,
  { swhid, swhidAgrees }: Identifiers,
) {
  const place = target === '-' ? 'Downloaded' : `${target}:`;
  return [
    `${place} ${formatNumber(length)} bytes, sha256 ${sha256}`,
    verified.length > 0
      ? `Verified: ${verified.join(', ')}.`
      : 'Not verified: the server announced neither length nor digest.',
    ...(swhidAgrees === true ? [`The identifier matches the deposit: ${swhid}`] : []),
    ...(swhidAgrees === false ? [`The identifier does NOT match the deposit: ${swhid}`] : []),
  ];
}
