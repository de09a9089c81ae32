import { UnreadableAnswer } from './xml-tree.ts';

/** What a document names, which may be relative to where the document is. @throws {UnreadableAnswer} no address. */
export function absoluteIri(named: string, document: string): string {
  if (URL.canParse(named, document)) return new URL(named, document).href;
  throw new UnreadableAnswer(`${document} names an address that is none: ${named}`);
}
