import type { CoreSwhid, Swhid } from '../swhid/swhid.ts';

/** What a deposit has to have that a SWHID speaks of; at least one identifier. */
export type DepositConditions = {
  readonly directory?: string;
  readonly revision?: string;
  readonly snapshot?: string;
  readonly origin?: string;
};

const fields = { dir: 'directory', rev: 'revision', snp: 'snapshot' } as const;

/** Nothing says in which deposit a content, or a directory that is not the root of one, is to be looked for. */
export function mayBeAnywhere({ type, qualifiers }: Swhid): boolean {
  return (type === 'cnt' || type === 'dir') && !isAnchored({ qualifiers });
}

export function isAnchored({ qualifiers: { anchor, visit } }: Pick<Swhid, 'qualifiers'>): boolean {
  return anchor !== undefined || visit !== undefined;
}

/** `undefined` when no deposit can have what is asked for, since two of its parts exclude one another. */
export function conditionsOf(swhid: Swhid): DepositConditions | undefined {
  const { origin, anchor, visit } = swhid.qualifiers;
  return havingAll([anchor, visit, identifiesDeposit(swhid) ? swhid : undefined], origin);
}

/** That it has all of them. `undefined` also when one of them is of a type that no deposit makes. */
export function havingAll(
  objects: readonly (CoreSwhid | undefined)[],
  origin: string | undefined,
): DepositConditions | undefined {
  const conditions: { directory?: string; revision?: string; snapshot?: string } = {};
  for (const { type, id } of objects.filter((one) => one !== undefined)) {
    const field = fieldOf(type);
    if (field === undefined || (conditions[field] ?? id) !== id) return undefined;
    conditions[field] = id;
  }
  return { ...conditions, ...(origin !== undefined && { origin }) };
}

/** Whether it is the object of a deposit itself, not one inside. */
function identifiesDeposit(swhid: Swhid): boolean {
  return swhid.type === 'cnt' ? false : swhid.type !== 'dir' || !isAnchored(swhid);
}

/** Releases are made of no deposit. */
function fieldOf(type: CoreSwhid['type']) {
  return type === 'dir' || type === 'rev' || type === 'snp' ? fields[type] : undefined;
}
