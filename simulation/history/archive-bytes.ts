import { hash } from 'node:crypto';
import type { ArchiveKind } from '../archives/archive-workers.ts';
import type { Plan } from '../plan/plan.ts';

/** Returns the bytes of an archive: others in each history and for each request. */
export function archiveOf(kind: ArchiveKind, seed: number, name: string): Buffer {
  return Buffer.from(`${kind} archive ${name} of history ${seed}`);
}

/** Returns the kind of every archive that clients send in a history, by SHA-256. */
export function archiveKinds({ seed, deposits }: Plan): ReadonlyMap<string, ArchiveKind> {
  const kinds = new Map<string, ArchiveKind>();
  const add = (kind: ArchiveKind, name: string): void =>
    void kinds.set(hash('sha256', archiveOf(kind, seed, name)), kind);
  for (const { name, archive, steps } of deposits) {
    add(archive, name);
    for (const [index, step] of steps.entries()) add(step.archive, `${name}/${index + 1}`);
  }
  return kinds;
}
