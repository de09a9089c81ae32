import type { PreparedArchive } from '../archives/prepare-archive.ts';
import type { Connection } from '../http/connection.ts';
import { linkOfAnswer } from '../http/link-header.ts';
import { KeptUploads } from './kept-uploads.ts';
import { offsetOf } from './resumable-upload.ts';

/**
 * Edit-IRI of the deposit of which an upload of this archive has become a part already, when the process that sent it
 * ended before it heard so; `null` when there is none, or nobody knows.
 */
export async function depositOfKeptUpload(
  archive: PreparedArchive,
  { connection, collection, uploads }: { connection: Connection; collection: string; uploads: string },
): Promise<string | null> {
  const upload = new KeptUploads(connection.login, uploads, archive).find();
  if (upload === undefined || (await offsetOf(upload, connection)) !== undefined) return null;
  // It is used or gone: in either case naming it makes nothing, but the refusal tells which.
  const headers = { Upload: upload, 'In-Progress': 'true' };
  const { answer } = await connection.ask('POST', collection, { headers, repeatable: true });
  return answer.status === 409 ? linkOfAnswer(answer, 'edit') : null;
}
