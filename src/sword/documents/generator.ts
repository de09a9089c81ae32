import { type BodyElement, element } from './xml-body.ts';

/** The software that answers, named in receipts and errors. */
export type Generator = { readonly name: string; readonly version: string; readonly uri: string };

export function generatorElement({ name, version, uri }: Generator): BodyElement {
  return element('generator', name, { uri, version });
}
