import { randomBytes } from 'node:crypto';
import * as tus from 'tus-js-client';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { ATOM_TYPE, final, helloEntry, partial } from '../../testing/http/deposit-bodies.ts';
import { TestClient } from '../../testing/http/test-client.ts';

/*
 * tus-js-client, of the version in package.json: an archive in chunks, which becomes a deposit. Prints a line for the
 * check, and ends with 1 if it failed.
 */
const { SERVICE_URL = '', SERVICE_COLLECTION = '', SERVICE_CLIENT = '', SERVICE_PASSWORD = '' } = process.env;
const TITLE = 'tus-js-client sends an archive in chunks, resumes it, and deposits it';
const PIECE_BYTES = 100_000;

const client = new TestClient(SERVICE_URL, SERVICE_CLIENT, SERVICE_PASSWORD);
const collection = `/1/${SERVICE_COLLECTION}/`;
const archive = tarOf([{ name: 'random', data: randomBytes(3 * PIECE_BYTES) }]);
const options = {
  endpoint: new URL(`${collection}uploads/`, SERVICE_URL).href,
  headers: { Authorization: client.authorization },
  metadata: { filename: 'random.tar', filetype: 'application/x-tar' },
  chunkSize: PIECE_BYTES,
} satisfies tus.UploadOptions;

try {
  await depositUpload(await goOnWith(await sendPiece()));
  process.stdout.write(`  ✔ ${TITLE}\n`);
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.stdout.write(`  ✘ ${TITLE}\n`);
  process.exitCode = 1;
}

/** Resolves to the URL of an upload that was left after its first piece. */
function sendPiece(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const upload = new tus.Upload(archive, {
    ...options,
    onError: reject,
    onChunkComplete: () => void upload.abort().then(() => resolve(upload.url ?? ''), reject),
  });
  upload.start();
  return promise;
}

function goOnWith(uploadUrl: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const upload = new tus.Upload(archive, {
    ...options,
    uploadUrl,
    onError: reject,
    onSuccess: () => resolve(upload.url ?? ''),
  });
  upload.start();
  return promise;
}

async function depositUpload(upload: string): Promise<void> {
  const receipt = await client.post(collection, null, { Upload: upload, ...partial });
  const id = /<deposit_id>(\d+)</.exec(await receipt.text())?.[1];
  await client.post(`${collection}${id}/metadata/`, helloEntry, { 'Content-Type': ATOM_TYPE, ...final });
  await client.waitFor(`${collection}${id}/status/`, 'done');
}
