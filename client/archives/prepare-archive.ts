import { createHash } from 'node:crypto';
import { createReadStream, readSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ArchiveFormat } from '../../src/archives/archive-reader.ts';
import { SNIFF_LENGTH, sniffFormat } from '../../src/archives/format.ts';
import { withDescriptor } from '../../src/tools/files/with-descriptor.ts';
import { type ProgressBars } from '../../src/tools/terminal/progress-bar.ts';
import { Fault, reading, reasonOf, UsageFault, unreadable } from '../faults.ts';
import { pluralize } from '../output.ts';
import type { TemporaryFolder } from '../temporary-folder.ts';
import { folderIdentifier } from './folder-identifier.ts';
import { exclusion, type FolderMember, folderMembers } from './folder-members.ts';
import { ownFileTest } from './own-files.ts';
import { packFolder } from './pack-folder.ts';
import { type Cached, isCached, type PreparedCache, stateOf } from './prepared-cache.ts';
import type { UnpackedLimits } from './unpacked-limits.ts';

/** An archive ready to be sent: a file that no longer changes. */
export type PreparedArchive = {
  /** The argument of the command line. */
  readonly source: string;
  /** Directory identifier, 40 hex digits, of the folder on disk that was packed. */
  readonly directory?: string;
  readonly file: string;
  /** Name sent to the server, printable ASCII. */
  readonly filename: string;
  readonly format: ArchiveFormat;
  readonly length: number;
  /** 32 hex digits, and 64. */
  readonly md5: string;
  readonly sha256: string;
};

export type PrepareOptions = {
  /** Folder for packed archives. */
  readonly folder: TemporaryFolder;
  readonly exclude: readonly string[];
  readonly mtime: Date;
  readonly limits: UnpackedLimits;
  readonly progress: ProgressBars;
  readonly cache: PreparedCache;
  readonly note: (text: string) => void;
};

/** The facts that the cache stores of an archive. */
type ArchiveFacts = Pick<PreparedArchive, 'length' | 'md5' | 'sha256' | 'directory'>;

/** Packs a folder and computes the digests, unless the cache has them of the same content. @throws {Fault} */
export async function prepareArchive(
  source: string,
  options: PrepareOptions,
  number: number,
): Promise<PreparedArchive> {
  const { cache, mtime, note } = options;
  const { place, isFolder } = sourceAt(source);
  const members = isFolder ? membersOf(place, source, options) : null;
  const state = stateOf(place, members, JSON.stringify(mtime));
  const known = cache.find<ArchiveFacts>(state);
  if (known) note(`${source} has not changed since the interrupted upload: not read again.`);
  const { value: facts, file: packed } = known ?? (await read({ source, place, members }, options, number));
  const [file, filename] = [packed ?? place, asciiName(archiveName(place, isFolder))];
  const format = await reading(source, () => formatOf(file, source));
  const archive = { ...facts, source, file, filename, format };
  if (!known && isCached(facts)) cache.store(state, facts, packed);
  return archive;
}

/** A file, or a folder with these members. */
type Source = {
  readonly source: string;
  readonly place: string;
  readonly members: readonly FolderMember[] | null;
};

async function read(
  { source, place, members }: Source,
  options: PrepareOptions,
  number: number,
): Promise<Cached<ArchiveFacts>> {
  if (!members) return { value: await readFacts(place, source, options), file: null };
  const file = await pack(source, place, members, options, number);
  const facts = await readFacts(file, source, options);
  const present = membersOf(place, source, { ...options, note: () => undefined }); // what is left out is noted already
  return { value: { ...facts, directory: folderIdentifier(place, present) }, file };
}

function membersOf(place: string, source: string, { exclude, note, folder }: PrepareOptions): FolderMember[] {
  const [isExcluded, isOwn] = [exclusion(exclude), ownFileTest(place, source, folder.path, note)];
  return folderMembers(place, (member) => isExcluded(member) || isOwn(member));
}

/** Packs a folder; resolves to the file. */
async function pack(
  source: string,
  place: string,
  members: readonly FolderMember[],
  { folder, mtime, limits, progress }: PrepareOptions,
  number: number,
): Promise<string> {
  if (members.length === 0)
    throw new Fault(`Nothing to deposit in ${source}: the folder is empty, or everything in it is excluded.`);
  const total = members.reduce((sum, member) => sum + (member.kind === 'file' ? member.size : 0), 0);
  assertWithin(limits, source, members.length, total);
  const onRead = (bytes: number): void => progress.at('MB packed', bytes, total);
  return inTemporaryFolder(source, async () => {
    const file = path.join(folder.path, `${number}.tar.gz`);
    await packFolder(place, members, file, { mtime, onRead });
    return file;
  });
}

/** @throws {Fault} the server would reject the folder, packed: no time is spent on that. */
function assertWithin(
  { members, unpackedBytes }: UnpackedLimits,
  source: string,
  count: number,
  bytes: number,
): void {
  if (count <= members && bytes <= unpackedBytes) return;
  const size = `${pluralize(count, 'member')} and ${pluralize(bytes, 'byte')}`;
  const limit = `${pluralize(members, 'member')} and ${pluralize(unpackedBytes, 'byte')}`;
  throw new Fault(
    `The folder ${source} is too large: ${size}; the service accepts at most ${limit}. Leave files out with --exclude, or upload it nevertheless with --force.`,
  );
}

/** Runs what packs a folder. @throws {Fault} also if the temporary folder is full. */
async function inTemporaryFolder<Result>(source: string, pack: () => Promise<Result>): Promise<Result> {
  try {
    return await pack();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error; // about a member
    const text = `${source} cannot be packed in ${tmpdir()}: ${reasonOf(error)}. TMPDIR names another folder.`;
    throw new Fault(text, { cause: error });
  }
}

/** Maximum time, in seconds since 1970, that tar-stream writes: it has 32 bits. */
const MAX_EPOCH = 2 ** 31 - 1;

/** Returns the time of all packed members: `SOURCE_DATE_EPOCH`, as in reproducible builds, else 1970. */
export function packingTime(epoch: string | undefined): Date {
  if (!epoch) return new Date(0);
  if (/^[0-9]{1,10}$/.test(epoch) && Number(epoch) <= MAX_EPOCH) return new Date(Number(epoch) * 1000);
  throw new UsageFault(`SOURCE_DATE_EPOCH=${epoch} is not a number of seconds from 0 to ${MAX_EPOCH}.`);
}

async function readFacts(file: string, source: string, { progress }: PrepareOptions): Promise<ArchiveFacts> {
  const [md5, sha256] = [createHash('md5'), createHash('sha256')];
  let length = 0;
  await reading(source, async () => {
    const total = statSync(file).size;
    for await (const piece of createReadStream(file, {
      highWaterMark: 256 * 1024,
    }) as AsyncIterable<Buffer>) {
      md5.update(piece);
      sha256.update(piece);
      progress.at('MB hashed', (length += piece.length), total);
    }
  });
  return { length, md5: md5.digest('hex'), sha256: sha256.digest('hex') };
}

function sourceAt(source: string): { readonly place: string; readonly isFolder: boolean } {
  let place = source;
  try {
    place = path.resolve(source); // fails in a folder that was removed
    const stats = statSync(place);
    if (stats.isDirectory() || stats.isFile()) return { place, isFolder: stats.isDirectory() };
  } catch (error) {
    // Node replaces what is not UTF-8 in arguments, and in the path of the current folder.
    const isOtherPath = (error as NodeJS.ErrnoException).code === 'ENOENT' && place.includes('\ufffd');
    if (!isOtherPath) throw unreadable(source, error);
    const text = `${source} cannot be read: its path is not UTF-8. Rename it or its folders, or copy it.`;
    throw new Fault(text, { cause: error });
  }
  throw new Fault(`${source} is neither a file nor a folder.`);
}

function formatOf(file: string, source: string): ArchiveFormat {
  const head = Buffer.alloc(SNIFF_LENGTH);
  const count = withDescriptor(file, 'r', (opened) => readSync(opened, head, 0, SNIFF_LENGTH, 0));
  const format = sniffFormat(head.subarray(0, count));
  if (format !== 'unknown') return format;
  throw new Fault(
    `${source} is not a zip or a tar (plain, gzip, bzip2 or xz). To deposit other files, give their folder.`,
  );
}

/** Returns the name of an archive, or of the archive of a folder. The root of a drive has no name. */
export function archiveName(place: string, isFolder: boolean, { basename } = path): string {
  return isFolder ? `${basename(place) || 'source'}.tar.gz` : basename(place);
}

/**
 * Returns a name of printable ASCII, which is all that servers accept: letters lose their marks, other characters
 * become `_`.
 */
export function asciiName(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '');
  const ascii = plain.replace(/[^\x20-\x7e]|["\\/]/gu, '_').trim();
  return ascii.slice(-255).replace(/^\.{1,2}$/, 'source') || 'source';
}
