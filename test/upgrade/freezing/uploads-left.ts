import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { tarOf } from '../../../testing/archives/archive-builders.ts';
import { partial } from '../../../testing/http/deposit-bodies.ts';
import { checksumOf, metadataOf, pieceHeaders, TUS } from '../../../testing/http/tus-uploads.ts';
import type { FrozenUpload } from '../expected.ts';
import type { Claims } from './claims.ts';
import { type Depositor, entryOf, PASSWORD } from './depositor.ts';
import type { Site } from './site.ts';
import { recordOf } from './upload-records.ts';

export type LeftUpload = Pick<FrozenUpload, 'label' | 'id' | 'client' | 'depositId'>;

/** The archive that every upload is of, or begins with. */
const archive = tarOf([{ name: 'upload/a.txt', data: 'uploaded\n'.repeat(4000) }]);
const HALF = 20_000;

/** Leaves uploads in every state. Needs a site without reactors, which is killed at the end. */
export async function leaveUploads(
  site: Site,
  alice: Depositor,
  claims: Claims,
): Promise<readonly LeftUpload[]> {
  const left: LeftUpload[] = [];
  const leave = (label: string, id: string, depositId: number | null = null) =>
    left.push({ label, id, client: alice.name, depositId });
  const empty = await begin(alice);
  leave('unfinished', empty);
  await patch(alice, empty, 0, archive.subarray(0, HALF));
  leave('finished', await whole(alice));
  const used = await whole(alice);
  const ofUpload = await alice.ofEntry('of-upload', entryOf('Of an upload'), partial);
  await name(alice, ofUpload, used);
  leave('used', used, ofUpload);
  for (const how of ['killBeforeRecord', 'killAfterRecord'] as const) {
    const label = how === 'killBeforeRecord' ? 'claimed-unrecorded' : 'claimed-recorded';
    const id = await whole(alice);
    const depositId = await alice.ofEntry(label, entryOf(label), partial);
    await claims[how]({ id, depositId, send: () => name(alice, depositId, id) });
    leave(label, id, depositId);
    await site.start('http only');
  }
  const verifying = await begin(alice);
  leave('verifying', verifying);
  await patch(alice, verifying, 0, archive.subarray(0, HALF));
  await killWhileVerifying(site, verifying);
  return left;
}

/** Sends a part of a piece with a checksum; the service is killed while it waits for the rest. */
async function killWhileVerifying(site: Site, id: string): Promise<void> {
  const rest = archive.subarray(HALF);
  const headers = {
    ...pieceHeaders(HALF),
    ...checksumOf('sha256', rest),
    'Content-Length': rest.length,
    Authorization: `Basic ${Buffer.from(`alice:${PASSWORD}`).toString('base64')}`,
  };
  const request = http.request(new URL(pathOf(id), site.url), { method: 'PATCH', headers, agent: false });
  request.on('error', () => undefined); // the service is killed
  request.write(rest.subarray(0, 5000));
  while ((await recordOf(site, id)).state.status !== 'verifying') await pause(5);
  await pause(300); // so that some of the bytes are in the file
  await site.kill();
  request.destroy();
}

async function begin(alice: Depositor): Promise<string> {
  const metadata = metadataOf({ filename: `${randomUUID()}.tar`, filetype: 'application/x-tar' });
  const headers = { ...TUS, ...metadata, 'Upload-Length': String(archive.length) };
  const answer = await alice.send('POST', '/1/software/uploads/', null, headers);
  const id = /([0-9a-f-]{36})\/$/.exec(answer.headers.get('location') ?? '')?.[1];
  if (id === undefined) throw new Error(`An upload has no IRI: ${answer.headers.get('location')}`);
  return id;
}

async function whole(alice: Depositor): Promise<string> {
  const id = await begin(alice);
  await patch(alice, id, 0, archive);
  return id;
}

async function patch(alice: Depositor, id: string, offset: number, bytes: Uint8Array): Promise<void> {
  await alice.send('PATCH', pathOf(id), bytes, pieceHeaders(offset));
}

async function name(alice: Depositor, depositId: number, id: string): Promise<void> {
  await alice.send('POST', `/1/software/${depositId}/media/`, null, { Upload: id, ...partial });
}

function pathOf(id: string): string {
  return `/1/software/uploads/${id}/`;
}
