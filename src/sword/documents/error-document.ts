import { SWORD_ERROR } from '../namespaces.ts';
import { SWORD_ERRORS, type SwordError, type SwordErrorCode } from '../sword-error.ts';
import { type Document, generatorFact, onlyJson, type RenderContext, text } from './document.ts';

export type ErrorDocument = Pick<SwordError, 'code' | 'summary' | 'verboseDescription'> & {
  /** RFC 3339 in UTC. */
  readonly updated: string;
};

/** Describes the body of every response from 400 up. */
export function errorDocument(
  { code, updated, summary, verboseDescription }: ErrorDocument,
  { depositNamespace, generator }: Pick<RenderContext, 'depositNamespace' | 'generator'>,
): Document {
  const href = errorIri(code, depositNamespace);
  return {
    element: 'sword:error',
    isHot: true, // nothing is loaded for it, which would fail while no file can be opened
    attributes: { href },
    facts: [
      ...onlyJson({ href }),
      text('title', SWORD_ERRORS[code].title),
      text('updated', updated),
      generatorFact(generator),
      text('summary', summary),
      text('treatment', 'processing failed', 'sword:treatment'),
      text('verbose_description', verboseDescription, 'sword:verboseDescription'),
    ],
  };
}

export function errorIri(code: SwordErrorCode, depositNamespace: string): string {
  const { of, name = code } = SWORD_ERRORS[code];
  return `${of === 'SWORD' ? SWORD_ERROR : serviceErrorNamespace(depositNamespace)}${name}`;
}

/** Returns the beginning of the IRIs of errors that this service defines. */
export function serviceErrorNamespace(depositNamespace: string): string {
  return `${depositNamespace.replace(/\/$/, '')}/error/`;
}
