import type { Connection } from '../http/connection.ts';
import { linkOfAnswer } from '../http/link-header.ts';
import type { KeptUploads } from './kept-uploads.ts';
import { offsetOf } from './resumable-upload.ts';

/**
 * Returns the Edit-IRI of the deposit that already contains the stored upload, if the process that sent it ended before
 * the answer arrived. Returns `null` if there is no such deposit, or if it is unknown.
 */
export async function depositOfKeptUpload(
  kept: KeptUploads,
  connection: Connection,
  collection: string,
): Promise<string | null> {
  const upload = kept.find();
  if (upload === undefined || (await offsetOf(upload, connection)) !== undefined) return null;
  // The upload is used or gone. Naming it creates nothing in either case, and the refusal shows which.
  const headers = { Upload: upload, 'In-Progress': 'true' };
  const { answer } = await connection.ask('POST', collection, { headers, repeatable: true });
  return answer.status === 409 ? linkOfAnswer(answer, 'edit') : null;
}
