import { closeSync, createWriteStream, fstatSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack, type Header as WholeHeader } from 'tar-stream';
import { changedFault, openMember } from './file-on-disk.ts';
import type { FolderMember } from './folder-members.ts';
import { isUtf8Name, rawNames } from './raw-names.ts';

export type PackOptions = {
  /** Modification time of every member. */
  readonly mtime: Date;
  /** Called with the number of bytes of files read so far. */
  readonly onRead: (bytes: number) => void;
};

/**
 * Writes the members as a tar.gz whose root is the folder itself. Equal content gives equal bytes, regardless of owners
 * and times of the files.
 * @throws {Fault} a file cannot be read, or changes meanwhile.
 */
export async function packFolder(
  folder: string,
  members: readonly FolderMember[],
  target: string,
  options: PackOptions,
): Promise<void> {
  const tar = pack();
  const written = pipeline(tar, createGzip(), createWriteStream(target, { mode: 0o600, flags: 'wx' }));
  written.catch(() => undefined); // awaited below
  try {
    let read = 0;
    for (const member of members) {
      await addMember(tar, folder, member, options.mtime, (bytes) => options.onRead((read += bytes)));
    }
    tar.finalize();
  } catch (error) {
    tar.destroy(error as Error);
    await written.catch(() => undefined);
    throw error;
  }
  await written;
}

type Header = Partial<WholeHeader> & Pick<WholeHeader, 'name'>;

async function addMember(
  tar: Pack,
  folder: string,
  member: FolderMember,
  mtime: Date,
  onRead: (bytes: number) => void,
): Promise<void> {
  const header = headerOf(tar, member, mtime);
  if (member.kind !== 'file') {
    await finished((done) => tar.entry(header, done));
    return;
  }
  await finished((done, failed) => {
    const entry = tar.entry(header, done);
    entry.on('error', failed); // it fails with the tar
    writeAll(entry, folder, member, onRead).catch(failed);
  });
}

function headerOf(tar: Pack, member: FolderMember, mtime: Date): Header {
  const target = member.kind === 'link' ? member.target : undefined;
  const isPlain = isUtf8Name(member.path) && (target === undefined || isUtf8Name(target));
  // The extended header is pushed between two members, when nothing else is being written.
  if (!isPlain)
    tar.push(rawNames({ path: member.path, ...(target !== undefined && { linkpath: target }) }, mtime));
  const name = isPlain ? decodeUtf8(member.path) : 'non-utf-8-name';
  const owner = { uid: 0, gid: 0, mtime };
  switch (member.kind) {
    case 'directory':
      return { ...owner, name, type: 'directory', mode: 0o755 };
    case 'link':
      return {
        ...owner,
        name,
        type: 'symlink',
        mode: 0o777,
        linkname: isPlain ? decodeUtf8(member.target) : 'target',
      };
    case 'file':
      return { ...owner, name, type: 'file', mode: member.executable ? 0o755 : 0o644, size: member.size };
  }
}

function decodeUtf8(name: string): string {
  return Buffer.from(name, 'latin1').toString('utf8');
}

/** Writes a file up to the size it had in the list of members; a file of another size has changed. */
async function writeAll(
  entry: NodeJS.WritableStream,
  folder: string,
  { path, size }: FolderMember & { kind: 'file' },
  onRead: (bytes: number) => void,
): Promise<void> {
  const file = openMember(folder, path);
  try {
    if (fstatSync(file).size !== size) throw changedFault(folder, path);
    for (let position = 0; position < size; ) {
      const piece = Buffer.allocUnsafeSlow(Math.min(256 * 1024, size - position));
      const count = readSync(file, piece, 0, piece.length, position);
      if (count === 0) throw changedFault(folder, path);
      position += count;
      onRead(count);
      if (!entry.write(piece.subarray(0, count)))
        await new Promise((resolve) => entry.once('drain', resolve));
    }
    entry.end();
  } finally {
    closeSync(file);
  }
}

type Done = (error?: Error | null) => void;

function finished(begin: (done: Done, failed: (error: Error) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    begin((error) => (error ? reject(error) : resolve()), reject);
  });
}
