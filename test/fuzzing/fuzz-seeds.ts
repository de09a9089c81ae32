import { gunzipSync, gzipSync } from 'node:zlib';
import { everyArchive } from '../corpus/every-archive.ts';
import { xzOf } from '../corpus/xz-stream.ts';
import { mutated, type Random, withChecksums } from './mutations.ts';
import { withCrcs } from './zip-checks.ts';

export type FuzzSeed = { readonly name: string; readonly kind: 'zip' | 'tar'; readonly bytes: Buffer };

const longest = 20_000;

/** The small valid archives of the corpus. */
export const fuzzSeeds: readonly FuzzSeed[] = everyArchive
  .filter(({ expected }) => expected.outcome === 'done')
  .map(({ name, mediaType, bytes }): FuzzSeed => {
    return { name, kind: mediaType === 'application/zip' ? 'zip' : 'tar', bytes: bytes() };
  })
  .filter(({ bytes }) => bytes.length <= longest);

/** Returns the seed with changes: in its bytes, or in those of the tar that is compressed in it. */
export function mutantOf({ name, kind, bytes }: FuzzSeed, random: Random): Buffer {
  if (kind === 'zip') return changedZip(bytes, random);
  if (name.startsWith('gzip') && random() < 0.5) return gzipSync(changedTar(gunzipSync(bytes), random));
  if (/^(gzip|bzip2|xz)/.test(name)) return mutated(bytes, random);
  const tar = changedTar(bytes, random);
  return random() < 0.1 ? xzOf(tar) : tar;
}

function changedZip(zip: Buffer, random: Random): Buffer {
  const mutant = mutated(zip, random);
  return random() < 0.6 ? withCrcs(mutant) : mutant;
}

function changedTar(tar: Buffer, random: Random): Buffer {
  const mutant = mutated(tar, random);
  return random() < 0.8 ? withChecksums(mutant) : mutant;
}
