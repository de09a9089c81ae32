import { type BodyElement, element } from '../xml/xml-body.ts';
import type { DepositModel } from './deposit-model.ts';

export type DepositFields = Readonly<Record<`deposit_${string}`, string | number>>;

/**
 * Returns each field twice: in the deposit namespace and, deprecated but read by existing clients, unprefixed in the
 * Atom namespace (interface.md, Versioning, rule 3).
 */
export function depositElements(fields: DepositFields): BodyElement[] {
  return Object.entries(fields).flatMap(([name, value]) => [
    element(`depositns:${name}`, String(value)),
    element(name, String(value)),
  ]);
}

/**
 * Returns the elements that Atom requires of an entry without content: its author and a link to it (RFC 4287, 4.1.2).
 */
export function atomElements({ author }: Pick<DepositModel, 'author'>, iri: string): BodyElement[] {
  return [element('author', [element('name', author)]), element('link', '', { rel: 'alternate', href: iri })];
}
