import type { Connection } from '../http/connection.ts';
import { linkOfAnswer } from '../http/link-header.ts';
import type { KeptUploads } from './kept-uploads.ts';
import { offsetOf } from './resumable-upload.ts';

/**
 * Edit-IRI of the deposit of which the upload that was kept has become a part already, when the process that sent it
 * ended before it heard so; `null` when there is none, or nobody knows.
 */
export async function depositOfKeptUpload(
  kept: KeptUploads,
  connection: Connection,
  collection: string,
): Promise<string | null> {
  const upload = kept.find();
  if (upload === undefined || (await offsetOf(upload, connection)) !== undefined) return null;
  // It is used or gone: in either case naming it makes nothing, but the refusal tells which.
  const headers = { Upload: upload, 'In-Progress': 'true' };
  const { answer } = await connection.ask('POST', collection, { headers, repeatable: true });
  return answer.status === 409 ? linkOfAnswer(answer, 'edit') : null;
}
