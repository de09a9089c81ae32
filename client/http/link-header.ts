import { absoluteIri } from '../documents/absolute-iri.ts';
import type { Answer } from './answer.ts';

/** Returns the target of a `Link` header of an answer. @throws {UnreadableAnswer} it is not an IRI. */
export function linkOfAnswer({ headers, iri }: Pick<Answer, 'headers' | 'iri'>, rel: string): string | null {
  const target = linkInHeader(headers['link'], rel);
  return target === null ? null : absoluteIri(target, iri);
}

/** Returns the unresolved target of the first link with that relation in a `Link` header (RFC 8288). */
export function linkInHeader(header: string | undefined, rel: string): string | null {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^<>]*)>([^,]*)/g)) {
    const [, quoted, plain] = /;\s*rel=(?:"([^"]*)"|([^\s;]+))/i.exec(parameters) ?? [];
    if ((quoted ?? plain ?? '').toLowerCase().split(/\s+/).includes(rel)) return target;
  }
  return null;
}
