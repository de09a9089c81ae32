import { hash } from 'node:crypto';
import {
  type ArchiveLimits,
  defaultArchiveLimits,
  type Inspection,
} from '../../src/archives/archive-reader.ts';
import { ArchiveWorkers } from '../../src/archives/workers/archive-workers.ts';
import { seeded } from '../../testing/processes/seeded-random.ts';
import { type FuzzSeed, fuzzSeeds, mutantOf } from './fuzz-seeds.ts';
import { IndependentReader } from './independent-reader.ts';
import { pick } from './mutations.ts';

export type FuzzOptions = {
  readonly mutations: number;
  readonly seed: number;
  /** Without changes the other reader is tried as well. */
  readonly changes?: boolean;
  readonly onProgress?: (done: number) => void;
};

export type FuzzReport = {
  readonly tried: number;
  readonly accepted: number;
  readonly refused: number;
  /** Accepted archives for which another reader found the same identifier. */
  readonly agreed: number;
  /** Accepted archives that the other reader cannot read. */
  readonly incomparable: number;
  readonly slowest: number;
  /** Crashes, hangs, wrong identifiers: a sentence each. */
  readonly broken: readonly string[];
};

// A mutant has some kilobytes: one that takes longer hangs.
const limits: ArchiveLimits = { ...defaultArchiveLimits, wallTime: 10_000 };

/** Has the service's own workers inspect changed archives, and compares accepted ones with another reader. */
export async function fuzzArchives(options: FuzzOptions): Promise<FuzzReport> {
  const { mutations, seed, changes = true, onProgress } = options;
  const report = { tried: 0, accepted: 0, refused: 0, agreed: 0, incomparable: 0, slowest: 0 };
  const broken: string[] = [];
  await using workers = new ArchiveWorkers({ size: 1 });
  await using reader = new IndependentReader();
  for (let number = 0; number < mutations; number += 1) {
    const random = seeded(seed * 1_000_003 + number);
    const origin = pick(fuzzSeeds, random);
    const mutant = changes ? mutantOf(origin, random) : origin.bytes;
    const begun = performance.now();
    const found = await outcomeOf(workers, mutant);
    report.slowest = Math.max(report.slowest, performance.now() - begun);
    report.tried += 1;
    const wrong = await judge(found, origin, mutant);
    if (wrong !== undefined) broken.push(`Mutation ${number} of “${origin.name}”: ${wrong}`);
    if ((number + 1) % 1000 === 0) onProgress?.(number + 1);
  }
  return { ...report, broken };

  /** Resolves to a fault of the inspection, if there is one. */
  async function judge(found: Outcome, { kind }: FuzzSeed, mutant: Buffer): Promise<string | undefined> {
    if (typeof found === 'string') return found;
    if ('faults' in found) {
      report.refused += 1;
      return faultOf(found.faults);
    }
    report.accepted += 1;
    const { directory, refusal } = await reader.read(
      mutant.readUInt16BE(0) === 0x504b ? 'zip' : kind,
      mutant,
    );
    if (refusal !== undefined) return `it was accepted, but another reader says: ${refusal}`;
    if (directory === undefined) report.incomparable += 1;
    else if (directory === found.directory) report.agreed += 1;
    else return `the directory is ${found.directory}, but ${directory} by another reader.`;
    return undefined;
  }
}

type Outcome =
  | { readonly directory: string }
  | { readonly faults: Extract<Inspection, { outcome: 'refused' }>['faults'] }
  | string;

async function outcomeOf(workers: ArchiveWorkers, bytes: Buffer): Promise<Outcome> {
  const sha256 = hash('sha256', bytes);
  try {
    const inspection = await workers.inspect({ kind: 'bytes', bytes }, sha256, limits);
    if (inspection.outcome === 'refused') return inspection;
    const merged = await workers.merge([{ sha256, listing: inspection.listing }]);
    return merged.outcome === 'refused' ? `merged with ${JSON.stringify(merged.faults)}` : merged;
  } catch (error) {
    return `the inspection failed: ${String(error)}`;
  }
}

/** Returns a fault unless the refusal gives its reasons in sentences; an aborted check has crashed or hung. */
function faultOf(faults: readonly { readonly code: string; readonly text: string }[]): string | undefined {
  if (faults.length === 0) return 'it was refused without a reason.';
  const bad = faults.find(({ code, text }) => code === 'CHECK_ABORTED' || !/^[A-Z].*\.$/s.test(text));
  return bad && `${bad.code}: ${bad.text}`;
}
