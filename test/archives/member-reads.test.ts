import { hash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { defaultArchiveLimits } from '../../src/archives/archive-reader.ts';
import { TarOutput } from '../../src/archives/members/member-output.ts';
import { readArchive } from '../../src/archives/read-archive.ts';
import { readMembers } from '../../src/archives/read-members.ts';
import { encodeTree } from '../../src/archives/tree/deposit-tree.ts';
import { ArchiveWorkers } from '../../src/archives/workers/archive-workers.ts';
import { ChunkSender } from '../../src/archives/workers/chunk-sender.ts';
import { contentId } from '../../src/swhid/content.ts';
import { type Directory, directoryBody, directoryId } from '../../src/swhid/directory.ts';
import { FILES_OF_NODE } from '../../src/tools/files.ts';
import { type Files, runInWorld } from '../../src/tools/outside-world.ts';
import { tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { demoTarBzip2, demoTarXz } from '../../testing/archives/demo-tars.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { accepted, membersOf } from './reading.ts';

const PATIENT = 30_000;
const small = Buffer.from('small\n');
const large = randomBytes(3_000_000);
const files = [
  { name: 'other', data: 'other\n' },
  { name: 'small', data: small },
  { name: 'large', data: large },
];
const archives = {
  zip: zipOf(files),
  'stored zip': zipOf(files.map((file) => ({ ...file, method: 0 }))),
  tar: tarOf(files),
  'tar.gz': gzipSync(tarOf(files)),
};

function content(bytes: Uint8Array, path: string, expected: Buffer) {
  const sha256 = hash('sha256', expected);
  const member = { path, mode: '100644', id: contentId(expected), sha256, length: expected.length } as const;
  return { kind: 'content', archive: { kind: 'bytes', bytes }, member } as const;
}

for (const [name, bytes] of Object.entries(archives)) {
  test(`members of a ${name} are read, and refused if other bytes are expected`, async (t) => {
    await using readers = new ArchiveWorkers({ size: 1 });
    t.true((await buffer(readers.read(content(bytes, 'small', small), PATIENT))).equals(small));
    t.true((await buffer(readers.read(content(bytes, 'large', large), PATIENT))).equals(large));
    const otherwise = Buffer.from(large);
    otherwise.writeUInt8(255 - otherwise.readUInt8(2_999_999), 2_999_999);
    for (const [path, expected] of [
      ['small', Buffer.from('SMALL\n')],
      ['large', otherwise],
      ['missing', small],
    ] as const) {
      let got = 0;
      const pieces = readers.read(content(bytes, path, expected), PATIENT);
      pieces.on('data', (piece: Uint8Array) => {
        got += piece.length;
      });
      await t.throwsAsync(buffer(pieces), { message: /is the content|are missing/ }, path);
      t.true(got < expected.length, `${path}: ${got} bytes`);
    }
  });
}

test('a link is returned with its target, and refused if another target is expected', async (t) => {
  await using readers = new ArchiveWorkers({ size: 1 });
  const bytes = tarOf([{ name: 'link', type: '2', linkName: 'small' }]);
  const read = (target: string) => {
    const { member, ...order } = content(bytes, 'link', Buffer.from(target));
    return buffer(readers.read({ ...order, member: { ...member, mode: '120000' } }, PATIENT));
  };
  t.is((await read('small')).toString(), 'small');
  await t.throwsAsync(read('SMALL'), { message: /is the content/ });
});

test('a directory is returned for the expected manifest, and for no other bytes', async (t) => {
  await using readers = new ArchiveWorkers({ size: 1 });
  const leaf = {
    mode: '100644',
    id: contentId(small),
    length: small.length,
    sha256: hash('sha256', small),
  } as const;
  const header = { directory: '0'.repeat(40), files: 1, bytes: small.length, archives: ['a'] };
  const manifest = encodeTree(header, [{ path: 'small', archive: 'a', ...leaf }]);
  const read = (sha256: string) => {
    const source = { kind: 'bytes', bytes: manifest } as const;
    const archive = { kind: 'bytes', bytes: archives.zip } as const;
    const order = { kind: 'tree', archive, sha256: 'a', path: '', directories: true } as const;
    return buffer(readers.read({ ...order, manifest: { source, sha256 } }, PATIENT));
  };
  t.true((await read(hash('sha256', manifest))).includes(small));
  await t.throwsAsync(read(hash('sha256', 'another')), { code: 'OBJECT_CORRUPT' });
});

test('the bytes of a directory with very many entries are read in little memory', async (t) => {
  await using readers = new ArchiveWorkers({ size: 1, heapMegabytes: 48 });
  const leaf = { mode: '100644', id: contentId(small) } as const;
  const names = Array.from({ length: 200_000 }, (_, number) => `file-number-${number}.txt`).sort();
  const directory: Directory = new Map(names.map((name) => [name, leaf]));
  const id = directoryId(directory);
  const about = { ...leaf, length: small.length, sha256: hash('sha256', small), archive: 'a' };
  const header = { directory: id, files: names.length, bytes: 0, archives: ['a'] };
  const bytes = encodeTree(
    header,
    Iterator.from(names).map((path) => ({ path, ...about })),
  );
  const manifest = { source: { kind: 'bytes', bytes }, sha256: hash('sha256', bytes) } as const;
  const read = buffer(readers.read({ kind: 'directory', path: '', id, manifest }, PATIENT));
  t.true((await read).equals(directoryBody(directory)));
});

test('a member with the right content id and another SHA-256 is refused', async (t) => {
  await using readers = new ArchiveWorkers({ size: 1 });
  const sha256 = hash('sha256', 'another with the same SHA-1');
  const other = { message: /has the SHA-256 [0-9a-f]{64} where it was/ };
  for (const [path, expected] of [
    ['small', small],
    ['large', large],
  ] as const) {
    for (const bytes of Object.values(archives)) {
      const { member, ...order } = content(bytes, path, expected);
      await t.throwsAsync(buffer(readers.read({ ...order, member: { ...member, sha256 } }, PATIENT)), other);
    }
  }
  const link = tarOf([{ name: 'link', type: '2', linkName: 'small' }]);
  const { member, ...order } = content(link, 'link', Buffer.from('small'));
  const wanted = { ...member, mode: '120000', sha256 } as const;
  await t.throwsAsync(buffer(readers.read({ ...order, member: wanted }, PATIENT)), other);
});

test('a member that has other bytes before the expected ones is refused', async (t) => {
  await using readers = new ArchiveWorkers({ size: 1 });
  const expected = randomBytes(256 * 1024 - 512); // with its header, as long as a chunk of the archive
  const bytes = tarOf([
    { name: 'file', data: Buffer.concat([Buffer.alloc(expected.length, 'x'), expected]) },
  ]);
  const reading = buffer(readers.read(content(bytes, 'file', expected), PATIENT));
  await t.throwsAsync(reading, { message: /“file” has 523264 bytes where it had 261632 when/ });
});

test('a directory with a file or a link of another SHA-256 is refused', async (t) => {
  await using readers = new ArchiveWorkers({ size: 1 });
  const sha256 = hash('sha256', 'another with the same SHA-1');
  const header = { directory: '0'.repeat(40), files: 1, bytes: small.length, archives: ['a'] };
  const link = tarOf([{ name: 'small', type: '2', linkName: small.toString() }]);
  for (const [mode, packed] of [
    ['100644', archives.zip],
    ['120000', link],
  ] as const) {
    const leaf = { mode, id: contentId(small), length: small.length, sha256 } as const;
    const bytes = encodeTree(header, [{ path: 'small', archive: 'a', ...leaf }]);
    const manifest = { source: { kind: 'bytes', bytes }, sha256: hash('sha256', bytes) } as const;
    const archive = { kind: 'bytes', bytes: packed } as const;
    const order = { kind: 'tree', archive, sha256: 'a', path: '', directories: true, manifest } as const;
    await t.throwsAsync(buffer(readers.read(order, PATIENT)), { message: /has the SHA-256/ }, mode);
  }
});

test('members of bzip2 and xz tars are read', async (t) => {
  await using readers = new ArchiveWorkers({ size: 1 });
  for (const bytes of [demoTarBzip2, demoTarXz]) {
    const order = content(bytes, 'demo/README.md', Buffer.from('A small project.\n'));
    t.is((await buffer(readers.read(order, PATIENT))).toString(), 'A small project.\n');
  }
});

/** A sender that knows how many bytes were written while it could not send. */
class MeasuredSender extends ChunkSender {
  #unsent = 0;
  most = 0;

  override write(bytes: Uint8Array): void {
    super.write(bytes);
    this.#unsent += bytes.length;
    this.most = Math.max(this.most, this.#unsent);
  }

  override async drained(): Promise<void> {
    await super.drained();
    this.#unsent = 0;
  }
}

test('a tar with very many hard links to one file is made in little memory', async (t) => {
  const names = Array.from({ length: 10_000 }, (_, number) => `link-${number}`);
  const links = names.map((name) => ({ name, type: '1', linkName: 'small' }));
  const bytes = tarOf([...files, ...links]);
  const members = [...files, ...names.map((name) => ({ name, data: small }))].map(({ name, data }) => {
    return [name, content(bytes, name, Buffer.from(data)).member] as const;
  });
  const { port1: chunks, port2 } = new MessageChannel();
  const [sent, whole] = [Array<Uint8Array>(), Promise.withResolvers<void>()];
  chunks.on('message', (chunk: Uint8Array | null) => {
    if (chunk === null) return whole.resolve();
    sent.push(chunk);
    chunks.postMessage(null);
  });
  chunks.postMessage(null);
  const sender = new MeasuredSender(port2);
  await readMembers({ kind: 'bytes', bytes }, new Map(members), new TarOutput(sender, 0));
  await sender.finish();
  await whole.promise;
  chunks.close();
  t.true(sender.most < 300_000, `${sender.most} bytes`);
  const made = await accepted(t, Buffer.concat([...sent, Buffer.alloc(1024)]));
  t.deepEqual(new Set(membersOf(made)), new Set(membersOf(await accepted(t, bytes))));
});

test('a truncated archive causes an error instead of a partial result', async (t) => {
  await using readers = new ArchiveWorkers({ size: 1 });
  for (const bytes of Object.values(archives)) {
    const cut = bytes.subarray(0, bytes.length - 1_000_000);
    await t.throwsAsync(buffer(readers.read(content(cut, 'large', large), PATIENT)));
  }
});

test('a read that the disk refuses is an error of the file system, whatever the format', async (t) => {
  for (const [name, bytes] of Object.entries(archives)) {
    const file = join(await temporaryFolder(t), 'archive');
    await writeFile(file, bytes);
    const middle = bytes.length >> 1;
    const readSync = (descriptor: number, target: Buffer, at: number, length: number, position: number) => {
      if (position <= middle && position + length > middle)
        throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' });
      return FILES_OF_NODE.readSync(descriptor, target, at, length, position);
    };
    const world = { files: { ...FILES_OF_NODE, readSync } as Files };
    const source = { kind: 'file', path: file } as const;
    const reading = runInWorld(world, () => readArchive(source, hash('sha256', bytes), defaultArchiveLimits));
    await t.throwsAsync(reading, { code: 'EIO' }, name);
  }
});

test('a stalled reader occupies a thread only for the granted time, or until the stream is destroyed', async (t) => {
  await using readers = new ArchiveWorkers({ size: 1 });
  const order = content(archives['tar.gz'], 'large', large);
  for (let time = 0; time < 3; time += 1) {
    const abandoned = readers.read(order, PATIENT);
    for await (const _ of abandoned) break;
    t.true(abandoned.destroyed);
  }
  const slow = readers.read(order, 300);
  await t.throwsAsync(
    async () => {
      for await (const _ of slow) await pause(400);
    },
    { name: 'JobAborted' },
  );
  t.true((await buffer(readers.read(order, PATIENT))).equals(large), 'a thread is available again');
});

/** Returns a manifest with a directory `many` of empty files, which makes it some megabytes long. */
function largeManifest() {
  const id = contentId(Buffer.alloc(0));
  const leaf = { mode: '100644', id, length: 0, sha256: hash('sha256', '') } as const;
  const names = Array.from({ length: 30_000 }, (_, number) => String(number)).sort();
  const many: Directory = new Map(names.map((name) => [name, leaf]));
  const directory = directoryId(many);
  const header = { directory: directoryId(new Map([['many', many]])), files: 1, bytes: 0, archives: ['a'] };
  const bytes = encodeTree(header, [
    { path: 'many', mode: '40000', id: directory },
    ...names.map((name) => ({ path: `many/${name}`, archive: 'a', ...leaf })),
  ]);
  const manifest = { source: { kind: 'bytes', bytes }, sha256: hash('sha256', bytes) } as const;
  return { manifest, directory, body: directoryBody(many) };
}
const many = largeManifest();

test('a directory is found in a manifest, and its bytes are those of its id', async (t) => {
  await using workers = new ArchiveWorkers({ size: 1, isBackground: false });
  const { manifest, directory, body } = many;
  const query = { kind: 'directory', id: directory } as const;
  t.like(await workers.find({ kind: 'find', manifest, query }, PATIENT), { path: 'many' });
  const elsewhere = { ...query, path: 'elsewhere' };
  t.is(await workers.find({ kind: 'find', manifest, query: elsewhere }, PATIENT), undefined);
  const lengths: number[] = [];
  const order = { kind: 'directory', manifest, path: 'many', id: directory } as const;
  const bytes = await buffer(workers.read(order, PATIENT, (length) => lengths.push(length)));
  t.true(bytes.equals(body));
  t.deepEqual(lengths, [body.length]);
  const wrong = { ...order, id: '0'.repeat(40) };
  await t.throwsAsync(buffer(workers.read(wrong, PATIENT)), { message: /cannot be made again/ });
  const changed = { ...manifest, sha256: hash('sha256', 'another') };
  for (const read of [
    workers.find({ kind: 'find', manifest: changed, query }, PATIENT),
    buffer(workers.read({ ...order, manifest: changed }, PATIENT)),
  ])
    await t.throwsAsync(read, { code: 'OBJECT_CORRUPT' });
});

test('a search and a read of a directory end when they are cancelled', async (t) => {
  await using workers = new ArchiveWorkers({ size: 1, isBackground: false });
  const { manifest, directory } = many;
  const gone = new AbortController();
  const query = { kind: 'leaf', id: '0'.repeat(40) } as const;
  const order = { kind: 'directory', manifest, path: 'many', id: directory } as const;
  const search = workers.find({ kind: 'find', manifest, query }, PATIENT, gone.signal);
  gone.abort(new Error('left'));
  await t.throwsAsync(search, { message: 'left' });
  workers.read(order, PATIENT).destroy();
  await until(async () => workers.load.busy === 0);
  t.pass();
});

test('reads and searches that are aborted while they wait occupy no worker', async (t) => {
  const workers = new ArchiveWorkers({ size: 1 });
  const bytes = zipOf(files);
  const running = workers.read(content(bytes, 'large', large), PATIENT);
  await until(async () => workers.load.busy === 1);
  const gone = new AbortController();
  const manifest = { source: { kind: 'bytes', bytes }, sha256: hash('sha256', bytes) } as const;
  const search = workers.find(
    { kind: 'find', manifest, query: { kind: 'leaf', id: '0'.repeat(40) } },
    PATIENT,
    gone.signal,
  );
  const read = workers.read(content(bytes, 'small', small), PATIENT);
  await until(async () => workers.load.waiting === 2);
  gone.abort(new Error('left'));
  read.destroy();
  await t.throwsAsync(search, { message: 'left' });
  await until(async () => workers.load.waiting === 0);
  t.true((await buffer(running)).equals(large));
  t.true((await buffer(workers.read(content(bytes, 'small', small), PATIENT))).equals(small));
  // A worker that was taken for an aborted job would now fail it without anyone who waits for it.
  await workers[Symbol.asyncDispose]();
});
