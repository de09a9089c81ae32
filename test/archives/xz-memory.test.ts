import { crc32 } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { ArchiveBytes } from '../../src/archives/archive-bytes.ts';
import { unxz } from '../../src/archives/compression/xz/unxz.ts';
import { demoTar, demoTarXz } from '../../testing/archives/demo-tars.ts';
import { xzOf } from '../corpus/xz-stream.ts';

async function lengthOf(bytes: Buffer): Promise<number> {
  using archive = ArchiveBytes.open({ kind: 'bytes', bytes });
  let length = 0;
  for await (const piece of unxz(archive)) length += piece.length;
  return length;
}

/** Returns a stream whose dictionary has the largest size that is accepted. */
function withLargeDictionary(data: Buffer): Buffer {
  const [bytes, header] = [xzOf(data), 12];
  bytes[header + 4] = 28; // 64 MiB
  bytes.writeUInt32LE(crc32(bytes.subarray(header, header + 8)), header + 8);
  return bytes;
}

type Memory = { grow(pages: number): number };
type Decoder = { readonly instance: { readonly exports: { readonly memory: Memory } } };

/** The part of WebAssembly by which the decoder is started. */
const { WebAssembly: assembly } = globalThis as unknown as {
  readonly WebAssembly: { instantiate: (program: Uint8Array, imports: object) => Promise<Decoder> };
};

/** Takes all memory that the decoder may get; nothing is written to it. */
function exhaust(memory: Memory): void {
  for (let pages = 32_768; pages >= 1; )
    try {
      memory.grow(pages);
    } catch {
      pages /= 2;
    }
}

/** Returns the memory of each decoder that is started during the test. */
function startedDuring(t: ExecutionContext): readonly Memory[] {
  const { instantiate } = assembly;
  const memories: Memory[] = [];
  assembly.instantiate = async (program, imports) => {
    const decoder = await instantiate(program, imports);
    memories.push(decoder.instance.exports.memory);
    return decoder;
  };
  t.teardown(() => {
    assembly.instantiate = instantiate;
  });
  return memories;
}

const large = withLargeDictionary(demoTar);

test.serial('a decoder of xz is kept for the next archive, unless it needed much memory', async (t) => {
  const started = startedDuring(t);
  for (const bytes of [demoTarXz, demoTarXz]) t.is(await lengthOf(bytes), demoTar.length);
  t.is(started.length, 1);
  for (const bytes of [large, large, demoTarXz]) t.is(await lengthOf(bytes), demoTar.length);
  t.is(started.length, 3);
});

test.serial('an archive is not corrupt if the decoder of xz gets no memory', async (t) => {
  t.is(await lengthOf(large), demoTar.length);
  const started = startedDuring(t);
  t.is(await lengthOf(demoTarXz), demoTar.length);
  t.is(started.length, 1);
  for (const memory of started) exhaust(memory);
  await t.throwsAsync(lengthOf(large), { code: 'ENOMEM' });
});
