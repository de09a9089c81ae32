import { badRequest } from '../sword-error.ts';
import type { XmlElement } from './xml-tree.ts';

/** Origin of the deposited software: a new one, or a known one that gets a further version. */
export type NamedOrigin = { readonly relation: 'create' | 'add'; readonly url: string };

const ELEMENTS = [
  ['create_origin', 'create'],
  ['add_to_origin', 'add'],
] as const;

/** Maximum bytes of an origin as JSON, so that an event can hold it. */
const MAX_BYTES = 1_024;

/**
 * Returns the origin in `create_origin/origin/@url` or `add_to_origin/origin/@url` of the deposit namespace, directly
 * in the entry or in its `deposit` element.
 * @throws {SwordError} 400: two different origins, or one without a URL, are ambiguous.
 */
export function namedOrigin(root: XmlElement, depositNamespace: string): NamedOrigin | null {
  const own = (parent: XmlElement, name: string) =>
    parent.children.filter(({ ns, local }) => local === name && ns === depositNamespace);
  const places = [root, ...own(root, 'deposit')];
  const origins = ELEMENTS.flatMap(([name, relation]) =>
    places.flatMap((place) => own(place, name)).flatMap((holder) => originsIn(holder, name, relation, own)),
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
  own: (parent: XmlElement, name: string) => readonly XmlElement[],
): NamedOrigin[] {
  const urls = own(holder, 'origin').map((origin) => origin.attributes.get('url')?.trim() ?? '');
  if (urls.length === 0 || urls.includes('')) {
    throw badRequest(`The element ${name} of the entry needs an origin element with a url attribute.`);
  }
  if (urls.some((url) => Buffer.byteLength(JSON.stringify(url)) > MAX_BYTES)) {
    throw badRequest(`The origin URL of the entry is longer than ${MAX_BYTES} bytes.`);
  }
  return urls.map((url) => ({ relation, url }));
}
