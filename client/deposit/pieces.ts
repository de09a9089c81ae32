import { depositOfKeptUpload } from '../tus/recorded-upload.ts';
import { forgetUpload, uploadResumably } from '../tus/resumable-upload.ts';
import { archiveType } from './archive-type.ts';
import type { PerformOptions } from './perform.ts';
import type { Step } from './plan.ts';

/** An archive that comes in pieces, before the step that names it. */
export type Pieces = {
  /** Resolves to the IRI of the upload. */
  readonly send: () => Promise<string>;
  /** Edit-IRI of the deposit that an earlier process has made of it. */
  readonly deposit: () => Promise<string | null>;
  readonly forget: () => void;
};

/** `null` when the step has no such archive. */
export function piecesOf(step: Step, options: PerformOptions): Pieces | null {
  const { connection, collection, carriage, onSent, note } = options;
  const archive = 'archive' in step ? step.archive : null;
  const uploads = collection.resumableUploads;
  if (!archive || uploads === null || carriage(archive) === 'whole') return null;
  const mediaType = archiveType(archive.format, collection);
  const told = (bytes: number): void => onSent(step, bytes, archive.length);
  return {
    send: () => uploadResumably(archive, { connection, uploads, mediaType, onSent: told, note }),
    deposit: () => depositOfKeptUpload(archive, { connection, collection: collection.iri, uploads }),
    forget: () => forgetUpload(archive, connection, uploads),
  };
}
