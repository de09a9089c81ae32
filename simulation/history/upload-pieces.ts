import type { SimulatedNode } from '../nodes/simulated-node.ts';

const COLLECTION = 'software';

/** How far an upload was acknowledged. */
export type SentPiece = { readonly id: string | undefined; readonly offset: number };

/** Begins an upload, or appends what it lacks up to `end`, as a client does that asks for the offset before. */
export async function sendPiece(
  { uploads }: SimulatedNode,
  client: string,
  bytes: Buffer,
  end: number,
  { id, offset }: SentPiece,
  onFault: (text: string) => void,
): Promise<SentPiece> {
  if (!uploads) throw new Error('The node accepts no uploads.');
  const owner = { client, collection: COLLECTION };
  const found = id === undefined ? undefined : uploads.find(id, owner);
  if (id !== undefined && !found) onFault(`the upload ${id} is gone`);
  const upload = found ?? (await uploads.create({ ...owner, length: bytes.length, metadata: null }));
  if (found && found.offset < offset)
    onFault(`the upload ${found.id} was acknowledged up to ${offset}, and has ${found.offset}`);
  using _hold = await uploads.hold(upload);
  if (upload.offset < end) await upload.append(oneChunk(bytes.subarray(upload.offset, end)));
  return { id: upload.id, offset: upload.offset };
}

/** Resolves to the bytes of an upload of which every piece was acknowledged. Lost ones count as sent again. */
export async function uploadedBytes(
  { uploads }: SimulatedNode,
  client: string,
  bytes: Buffer,
  id: string,
  onFault: (text: string) => void,
): Promise<Buffer> {
  const upload = uploads?.find(id, { client, collection: COLLECTION });
  const found = upload && Buffer.concat(await Array.fromAsync(upload.bytes()));
  if (!found) onFault(`the upload ${id} is gone`);
  else if (!found.equals(bytes)) onFault(`the upload ${id} has other bytes than were acknowledged`);
  return bytes;
}

async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
