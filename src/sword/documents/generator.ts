import { type BodyElement, element } from '../xml/xml-body.ts';

/** The software of this service, named in receipts and errors. */
export type Generator = { readonly name: string; readonly version: string; readonly uri: string };

export function generatorElement({ name, version, uri }: Generator): BodyElement {
  return element('generator', name, { uri, version });
}
