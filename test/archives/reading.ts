import { hash } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import {
  type ArchiveLimits,
  defaultArchiveLimits,
  type Inspection,
  trustInspection,
} from '../../src/archives/archive-reader.ts';
import { readArchive } from '../../src/archives/read-archive.ts';
import { decodeListing } from '../../src/archives/tree/deposit-tree.ts';
import { mergeListings } from '../../src/archives/tree/merge-archives.ts';
import type { LocalSource } from '../../src/object-store/object-store.ts';

export type Accepted = Extract<Inspection, { outcome: 'accepted' }>;
type Limits = Partial<ArchiveLimits>;

export async function inspect(bytes: Uint8Array, limits: Limits = {}): Promise<Inspection> {
  const source: LocalSource = { kind: 'bytes', bytes };
  const sha256 = hash('sha256', bytes);
  return trustInspection(await readArchive(source, sha256, { ...defaultArchiveLimits, ...limits }), sha256);
}

export async function accepted(t: ExecutionContext, bytes: Uint8Array, limits?: Limits): Promise<Accepted> {
  const inspection = await inspect(bytes, limits);
  if (inspection.outcome === 'accepted') return inspection;
  return t.fail(JSON.stringify(inspection.faults));
}

/** Paths (as latin1 strings) with their modes, in the order of the archive. */
export function membersOf({ listing }: Accepted): [path: string, mode: string][] {
  return [...decodeListing(listing)].map(({ path, leaf }) => [path, leaf?.mode ?? '40000']);
}

export function directoryOf(bytes: Uint8Array, { listing }: Accepted): string {
  const merged = mergeListings([{ sha256: hash('sha256', bytes), listing }]);
  return merged.outcome === 'accepted' ? merged.directory : JSON.stringify(merged.faults);
}

/** Asserts that the archive is refused, with an error of this code whose text matches. */
export async function refused(
  t: ExecutionContext,
  bytes: Uint8Array,
  code: string,
  text: RegExp,
  limits?: Limits,
): Promise<void> {
  const inspection = await inspect(bytes, limits);
  if (inspection.outcome === 'accepted') return t.fail('accepted');
  const fault = inspection.faults.find((fault) => fault.code === code);
  t.truthy(fault, JSON.stringify(inspection.faults));
  t.regex(fault?.text ?? '', text);
  t.regex(fault?.text ?? '', /^[A-Z].*\.$/s);
}
