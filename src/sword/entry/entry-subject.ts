import type { EntryFacts, Reference } from '../../domain/deposit/events.ts';
import { SCHEMA_ORG } from '../namespaces.ts';
import { badRequest } from '../sword-error.ts';
import { textBytes } from './entry-text.ts';
import { childrenOf, type XmlElement } from './xml-tree.ts';

/** Origin of the deposited software: a new one, or a known one that gets a further version. */
type NamedOrigin = NonNullable<EntryFacts['origin']>;

const ELEMENTS = [
  ['create_origin', 'create'],
  ['add_to_origin', 'add'],
] as const;

/**
 * Maximum bytes as JSON, so that an event can hold the reference as it is. It may have the context of any deposit, which
 * is its origin and some 180 bytes.
 */
const MAX_REFERENCE_BYTES = 2_048;

/**
 * Returns the origin in `create_origin/origin/@url` or `add_to_origin/origin/@url` of the deposit namespace, directly
 * in the entry or in its `deposit` element.
 * @throws {SwordError} 400: two different origins, or one without a URL, are ambiguous.
 */
export function namedOrigin(root: XmlElement, depositNamespace: string): NamedOrigin | null {
  const origins = ELEMENTS.flatMap(([name, relation]) =>
    elementsNamed(root, depositNamespace, name).flatMap((holder) =>
      originsIn(holder, name, relation, depositNamespace),
    ),
  );
  const [first, ...others] = origins;
  if (others.some(({ relation, url }) => relation !== first?.relation || url !== first.url)) {
    throw badRequest('The entry names more than one origin: send one create_origin or one add_to_origin.');
  }
  return first ?? null;
}

function originsIn(
  holder: XmlElement,
  name: string,
  relation: NamedOrigin['relation'],
  depositNamespace: string,
): NamedOrigin[] {
  const urls = childrenOf(holder, [depositNamespace], 'origin').map(
    (origin) => origin.attributes.get('url')?.trim() ?? '',
  );
  if (urls.length === 0 || urls.includes('')) {
    throw badRequest(`The element ${name} of the entry needs an origin element with a url attribute.`);
  }
  return urls.map((url) => ({ relation, url }));
}

/**
 * Returns the subject of an entry without software: `reference/object/@swhid` or `reference/origin/@url` of the deposit
 * namespace, directly in the entry or in its `deposit` element.
 * @throws {SwordError} 400: there are two, or it is empty.
 */
export function namedReference(root: XmlElement, depositNamespace: string): Reference | null {
  const [holder, ...others] = elementsNamed(root, depositNamespace, 'reference');
  if (!holder) return null;
  const references = [
    ...childrenOf(holder, [depositNamespace], 'object').map((object) =>
      referenceTo('object', object, 'swhid'),
    ),
    ...childrenOf(holder, [depositNamespace], 'origin').map((origin) => referenceTo('origin', origin, 'url')),
  ];
  const [reference] = references;
  if (others.length > 0 || references.length !== 1 || !reference) {
    throw badRequest(
      'The reference of the entry needs exactly one object element with a swhid attribute, or one origin element with a url attribute.',
    );
  }
  return reference;
}

/** Returns the URL in `metadata-provenance`, the source of the metadata; `null` if the entry names none. */
export function namedProvenance(root: XmlElement, depositNamespace: string): string | null {
  const urls = elementsNamed(root, depositNamespace, 'metadata-provenance').flatMap((element) =>
    childrenOf(element, SCHEMA_ORG, 'url'),
  );
  return urls.map(({ text }) => text.trim()).find((text) => text !== '') ?? null;
}

function referenceTo(kind: Reference['kind'], { attributes }: XmlElement, attribute: string): Reference {
  const value = attributes.get(attribute)?.trim() ?? '';
  if (value === '') {
    throw badRequest(`The ${kind} in the reference of the entry needs the attribute ${attribute}.`);
  }
  if (textBytes(value) > MAX_REFERENCE_BYTES) {
    throw badRequest(
      `The ${attribute} in the reference of the entry is longer than ${MAX_REFERENCE_BYTES} bytes.`,
    );
  }
  return { kind, value };
}

/** Returns the elements with this name, directly in the entry or in its `deposit` elements. */
function elementsNamed(root: XmlElement, namespace: string, name: string): readonly XmlElement[] {
  const places = [root, ...childrenOf(root, [namespace], 'deposit')];
  return places.flatMap((place) => childrenOf(place, [namespace], name));
}
