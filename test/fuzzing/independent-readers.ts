import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import StreamZip from 'node-stream-zip';
import { extract, type Header } from 'tar-stream';
import { gitTreeOf, type TreeMember } from '../../testing/archives/git-tree.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'deposit-fuzz-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

/**
 * Resolves to the directory id of a zip's members as node-stream-zip reads them; `undefined` if the two readers differ
 * about names. It rejects, throws in a callback or hangs if that reader does.
 */
export async function independentZip(bytes: Buffer): Promise<string | undefined> {
  const file = path.join(folder, 'mutant.zip');
  writeFileSync(file, bytes);
  const zip = new StreamZip({ file, storeEntries: true, skipEntryNameValidation: true });
  const entries: ReadEntry[] = [];
  zip.on('entry', (entry) => entries.push(entry));
  await new Promise<void>((resolve, reject) => {
    zip.on('ready', resolve);
    zip.on('error', reject);
  });
  try {
    if (!entries.every(isUtf8)) return undefined;
    return gitTreeOf(entries.map((entry) => memberOf(zip, entry)));
  } finally {
    zip.close();
  }
}

type ReadEntry = { readonly name: string; readonly flags: number; readonly size: number };

/** Whether the name is valid UTF-8: the reader decodes all names as UTF-8, whatever their flags say. */
function isUtf8({ name, flags }: ReadEntry): boolean {
  return /^\p{ASCII}*$/u.test(name) || ((flags & 0x800) !== 0 && !name.includes('\ufffd'));
}

function memberOf(zip: StreamZip, entry: ReadEntry): TreeMember {
  const path = Buffer.from(entry.name).toString('latin1');
  if (path.endsWith('/')) return { path };
  // By the entry itself, since names like `__proto__` are not found.
  const data = entry.size === 0 ? Buffer.alloc(0) : zip.entryDataSync(entry as unknown as string);
  return { path, mode: '100644', data };
}

/** Resolves to the directory id of a tar's members as tar-stream reads them. */
export async function independentTar(bytes: Buffer): Promise<string | undefined> {
  const members = new Map<string, Content>();
  const options = { filenameEncoding: 'latin1', allowUnknownFormat: true } as object; // missing in its types
  const reading = Readable.from([wholeBlocks(unpacked(bytes))]).pipe(extract(options));
  for await (const entry of reading) {
    const data: Buffer[] = [];
    for await (const piece of entry) data.push(piece as Buffer);
    const header = entry.header as Header & { readonly pax?: Record<string, string> | null };
    const [name, target] = [raw(header, 'path', header.name), raw(header, 'linkpath', header.linkname ?? '')];
    if (name === undefined || target === undefined) return undefined;
    place(members, clean(name), target, header, Buffer.concat(data));
  }
  return gitTreeOf([...members].map(([path, content]) => ({ path, ...content })));
}

/** The file or link at a path; the names of a hard link share it. */
type Content = { mode?: string; readonly data?: Buffer };

function place(
  members: Map<string, Content>,
  name: string,
  target: string,
  { type, mode, name: written }: Header,
  data: Buffer,
): void {
  const fileMode = (mode ?? 0) & 0o100 ? '100755' : '100644';
  if (type === 'symlink') members.set(name, { mode: '120000', data: Buffer.from(target, 'latin1') });
  else if (type === 'link') {
    const first = members.get(clean(target));
    if (!first) throw new Error(`The hard link ${name} has no target.`);
    if (first.mode !== '120000') first.mode = fileMode; // that of all its names
    members.set(name, first);
  } else if (type === 'directory' || written.endsWith('/')) members.set(`${name}/`, {});
  else if (type === 'file' || type === 'contiguous-file') members.set(name, { mode: fileMode, data });
  else throw new Error(`${name} is of the type ${type}.`);
}

/**
 * Returns the bytes of a name as latin1; `undefined` if it came in a pax header, which tar-stream decodes as UTF-8,
 * and was invalid.
 */
function raw(
  { pax }: { readonly pax?: Record<string, string> | null },
  key: string,
  value: string,
): string | undefined {
  if (pax?.[key] === undefined) return value;
  return value.includes('\ufffd') ? undefined : Buffer.from(value).toString('latin1');
}

function clean(name: string): string {
  return name
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

/** Pads a tar: the reader refuses one whose end is cut like one that is cut somewhere else. */
function wholeBlocks(tar: Buffer): Buffer {
  return Buffer.concat([tar, Buffer.alloc((512 - (tar.length % 512)) % 512)]);
}

function unpacked(bytes: Buffer): Buffer {
  if (bytes.readUInt16BE(0) === 0x1f8b) return gunzipSync(bytes);
  const program = { BZ: 'bzip2', '\xfd7': 'xz' }[bytes.toString('latin1', 0, 2)];
  if (program === undefined) return bytes;
  return execFileSync(program, ['-dc'], {
    input: bytes,
    stdio: ['pipe', 'pipe', 'ignore'],
    maxBuffer: 2 ** 28,
  });
}
