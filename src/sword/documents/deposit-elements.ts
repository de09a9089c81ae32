import type { ShownDeposit } from './shown-deposit.ts';
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

/** What makes an entry of an entry that has no content of its own: who it is from, and where it is (RFC 4287, 4.1.2). */
export function atomElements({ author }: Pick<ShownDeposit, 'author'>, iri: string): BodyElement[] {
  return [element('author', [element('name', author)]), element('link', '', { rel: 'alternate', href: iri })];
}
