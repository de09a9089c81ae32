import type { CoreSwhid, Swhid } from '../swhid/swhid.ts';

/** Properties that a deposit must have to match a SWHID; at least one of them is set. */
export type DepositFilter = {
  readonly directory?: string;
  readonly revision?: string;
  readonly snapshot?: string;
  readonly origin?: string;
};

const fields = { dir: 'directory', rev: 'revision', snp: 'snapshot' } as const;

/** Whether a SWHID names a content or a directory that may be in any deposit, since no anchor or visit restricts it. */
export function mayBeAnywhere({ type, qualifiers }: Swhid): boolean {
  return (type === 'cnt' || type === 'dir') && !isAnchored({ qualifiers });
}

export function isAnchored({ qualifiers: { anchor, visit } }: Pick<Swhid, 'qualifiers'>): boolean {
  return anchor !== undefined || visit !== undefined;
}

/** Returns the filter for a SWHID; `undefined` if two of its parts exclude each other, so that no deposit matches. */
export function conditionsOf(swhid: Swhid): DepositFilter | undefined {
  const { origin, anchor, visit } = swhid.qualifiers;
  return allOf([anchor, visit, identifiesDeposit(swhid) ? swhid : undefined], origin);
}

/**
 * Combines conditions. Returns `undefined` if they exclude each other, or if one is of a type that deposits do not
 * have.
 */
export function allOf(
  objects: readonly (CoreSwhid | undefined)[],
  origin: string | undefined,
): DepositFilter | undefined {
  const conditions: { directory?: string; revision?: string; snapshot?: string } = {};
  for (const { type, id } of objects.filter((one) => one !== undefined)) {
    const field = fieldOf(type);
    if (field === undefined || (conditions[field] ?? id) !== id) return undefined;
    conditions[field] = id;
  }
  return { ...conditions, ...(origin !== undefined && { origin }) };
}

/** Whether the SWHID identifies a deposit as a whole, not an object inside. */
function identifiesDeposit(swhid: Swhid): boolean {
  return swhid.type === 'cnt' ? false : swhid.type !== 'dir' || !isAnchored(swhid);
}

/** Returns the field with identifiers of this type. Deposits have neither releases nor contents of their own. */
function fieldOf(type: CoreSwhid['type']) {
  return type === 'dir' || type === 'rev' || type === 'snp' ? fields[type] : undefined;
}
