import { hash } from 'node:crypto';
import type { ArchiveKind } from '../archives/archive-workers.ts';
import { PART_BYTES } from '../nodes/site-settings.ts';
import type { Plan } from '../plan/plan.ts';

/** More than an object that an embedded store has in its table, and than a part of an upload to S3. */
const [LARGE_EMBEDDED_BYTES, LARGE_BYTES] = [70_000, 3 * PART_BYTES - 1000];

/** Returns the bytes of an archive: others in each history and for each request. Every second one is large. */
export function archiveOf(kind: ArchiveKind, { seed, composition }: Site, name: string): Buffer {
  const text = `${kind} archive ${name} of history ${seed}`;
  const isLarge = Buffer.from(name).reduce((sum, byte) => sum + byte) % 2 === 1; // names have numbers in order
  const largeSize = composition === 'embedded' ? LARGE_EMBEDDED_BYTES : LARGE_BYTES;
  return isLarge ? Buffer.alloc(largeSize, text) : Buffer.from(text);
}

type Site = Pick<Plan, 'seed' | 'composition'>;

/** Returns the kind of every archive that clients send in a history, by SHA-256. */
export function archiveKinds(plan: Plan): ReadonlyMap<string, ArchiveKind> {
  const kinds = new Map<string, ArchiveKind>();
  const add = (kind: ArchiveKind, name: string): void =>
    void kinds.set(hash('sha256', archiveOf(kind, plan, name)), kind);
  for (const { name, archive, steps } of plan.deposits) {
    add(archive, name);
    for (const [index, step] of steps.entries()) add(step.archive, `${name}/${index + 1}`);
  }
  return kinds;
}
