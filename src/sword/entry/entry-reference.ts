import type { Reference } from '../../domain/deposit/events.ts';
import { SCHEMA_ORG } from '../namespaces.ts';
import { badRequest } from '../sword-error.ts';
import type { XmlElement } from './xml-tree.ts';

/** Maximum bytes of a reference as JSON, so that an event can hold it. */
const MAX_BYTES = 1_024;

/**
 * Returns the subject of an entry without software: `reference/object/@swhid` or `reference/origin/@url` of the deposit
 * namespace, directly in the entry or in its `deposit` element.
 * @throws {SwordError} 400: there are two, or it is empty.
 */
export function namedReference(root: XmlElement, depositNamespace: string): Reference | null {
  const holders = placesOf(root, depositNamespace).flatMap((place) =>
    named(place, depositNamespace, 'reference'),
  );
  const [holder, ...others] = holders;
  if (!holder) return null;
  const references = [
    ...named(holder, depositNamespace, 'object').map((object) => referenceTo('object', object, 'swhid')),
    ...named(holder, depositNamespace, 'origin').map((origin) => referenceTo('origin', origin, 'url')),
  ];
  const [reference] = references;
  if (others.length > 0 || references.length !== 1 || !reference) {
    throw badRequest(
      'The reference of the entry needs exactly one object element with a swhid attribute, or one origin element with a url attribute.',
    );
  }
  return reference;
}

/**
 * Returns the URL in `metadata-provenance`, trimmed: the source of the metadata. Returns `null` when the entry names
 * none.
 */
export function namedProvenance(root: XmlElement, depositNamespace: string): string | null {
  const urls = placesOf(root, depositNamespace)
    .flatMap((place) => named(place, depositNamespace, 'metadata-provenance'))
    .flatMap(({ children }) =>
      children.filter(({ ns, local }) => local === 'url' && SCHEMA_ORG.includes(ns)),
    );
  return urls.map(({ text }) => text.trim()).find((text) => text !== '') ?? null;
}

function referenceTo(kind: Reference['kind'], { attributes }: XmlElement, attribute: string): Reference {
  const value = attributes.get(attribute)?.trim() ?? '';
  if (value === '') {
    throw badRequest(`The ${kind} in the reference of the entry needs the attribute ${attribute}.`);
  }
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_BYTES) {
    throw badRequest(`The ${attribute} in the reference of the entry is longer than ${MAX_BYTES} bytes.`);
  }
  return { kind, value };
}

function placesOf(root: XmlElement, depositNamespace: string): readonly XmlElement[] {
  return [root, ...named(root, depositNamespace, 'deposit')];
}

function named({ children }: XmlElement, namespace: string, name: string): readonly XmlElement[] {
  return children.filter(({ ns, local }) => local === name && ns === namespace);
}
