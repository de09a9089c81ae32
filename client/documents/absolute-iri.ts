import { UnreadableAnswer } from './xml-tree.ts';

/** Resolves an IRI relative to the document that names it. @throws {UnreadableAnswer} it is not an IRI. */
export function absoluteIri(named: string, document: string): string {
  if (URL.canParse(named, document)) return new URL(named, document).href;
  throw new UnreadableAnswer(`${document} contains an invalid address: ${named}`);
}
