import type { Collection, ServiceDocument } from '../documents/service-document.ts';
import type { Connection } from '../http/connection.ts';
import { KeptUploads } from '../tus/kept-uploads.ts';
import { offsetOf, uploadResumably } from '../tus/resumable-upload.ts';
import { archiveType, carriageOf } from './carriage.ts';
import type { Step } from './plan.ts';

/** An archive that is sent in chunks, before the step that names it. */
export type Pieces = {
  /** Resolves to the IRI of the upload. */
  readonly send: () => Promise<string>;
  /** Resolves to whether the server no longer has the upload. */
  readonly isGone: () => Promise<boolean>;
  readonly forget: () => void;
};

export type PiecesOptions = {
  readonly connection: Connection;
  readonly service: ServiceDocument;
  readonly collection: Collection;
  /** Called with the number of bytes of a step sent so far. */
  readonly onSent: (step: Step, bytes: number, total: number) => void;
  readonly note: (text: string) => void;
};

/** Returns `null` if the step has no such archive. */
export function piecesOf(step: Step, options: PiecesOptions): Pieces | null {
  const { connection, service, collection, onSent, note } = options;
  const archive = 'archive' in step ? step.archive : null;
  const uploads = collection.resumableUploads;
  if (!archive || uploads === null || carriageOf(archive, service, collection) === 'whole') return null;
  const mediaType = archiveType(archive.format, collection);
  const onBytes = (bytes: number): void => onSent(step, bytes, archive.length);
  const kept = new KeptUploads(connection.login, uploads, archive);
  return {
    send: () => uploadResumably(archive, kept, { connection, uploads, mediaType, onSent: onBytes, note }),
    isGone: async () => {
      const upload = kept.find();
      return upload === undefined || (await offsetOf(upload, connection)) === undefined;
    },
    forget: () => kept.forget(),
  };
}
