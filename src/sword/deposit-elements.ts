import { type BodyElement, element } from './xml-body.ts';

export type DepositFields = Readonly<Record<`deposit_${string}`, string | number>>;

/**
 * Each field twice: in the deposit namespace and, deprecated but read by existing clients, unprefixed in the
 * Atom namespace (interface.md, Versioning, rule 3).
 */
export function depositElements(fields: DepositFields): BodyElement[] {
  return Object.entries(fields).flatMap(([name, value]) => [
    element(`depositns:${name}`, String(value)),
    element(name, String(value)),
  ]);
}
