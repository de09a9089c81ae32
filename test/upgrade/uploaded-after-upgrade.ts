import type { ExecutionContext } from 'ava';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { entryHeaders, final, helloEntry, partial } from '../../testing/http/deposit-bodies.ts';
import { TusUploads } from '../../testing/http/tus-uploads.ts';
import type { FrozenUpload } from './expected.ts';
import type { Context, Test } from './upgrade-contract.ts';
import { pathOf } from './upgraded-service.ts';

/** The archive that every frozen upload is of, or begins with. */
const archive = tarOf([{ name: 'upload/a.txt', data: 'uploaded\n'.repeat(4000) }]);

/** Tests that resumable uploads continue which were begun before. */
export function testUploads(test: Test): void {
  test.serial('every upload has its offset', async (t) => {
    const { uploads } = t.context.upgraded.expected;
    t.true(uploads.length > 5);
    for (const { label, id, offset } of uploads) {
      t.is(await tus(t).offset(iriOf(id)), offset ?? Number.NaN, label);
    }
  });

  test.serial('incomplete uploads are continued, and become archives', async (t) => {
    for (const label of ['unfinished', 'verifying']) {
      const { id, offset } = upload(t, label);
      const rest = await tus(t).patch(iriOf(id), offset ?? 0, archive.subarray(offset ?? 0));
      t.is(rest.status, 204, await rest.text());
    }
    for (const label of ['unfinished', 'verifying', 'finished']) {
      const { id } = upload(t, label);
      const headers = { Upload: id, ...partial };
      const created = await alice(t).post('/1/software/', null, headers);
      t.is(created.status, 201, await created.text());
      await assertArchive(t, new URL(created.headers.get('location') ?? '').pathname);
    }
  });

  test.serial('a claimed upload that was not recorded can be named again', async (t) => {
    const { id } = upload(t, 'claimed-unrecorded');
    const path = pathOf(t.context.upgraded.deposit('claimed-unrecorded'));
    const named = await alice(t).post(`${path}media/`, null, { Upload: id, ...partial });
    t.true(named.ok, `${named.status} ${await named.text()}`);
    await assertArchive(t, `${path}metadata/`);
  });

  test.serial('an upload recorded as an archive is not recorded twice', async (t) => {
    for (const label of ['claimed-recorded', 'used']) {
      const { id, depositId } = upload(t, label);
      const other = pathOf(t.context.upgraded.deposit('partial-archive'));
      const named = await alice(t).post(`${other}media/`, null, { Upload: id, ...partial });
      t.is(named.status, 409, await named.text());
      t.regex(named.headers.get('link') ?? '', new RegExp(`/${depositId}/metadata/>; rel="edit"`), label);
      t.is((await alice(t).get(`${other}media/2/`)).status, 404, label);
    }
  });

  test.serial('deposits with archives of resumable uploads finish', async (t) => {
    for (const label of ['of-upload', 'claimed-recorded', 'claimed-unrecorded']) {
      const path = pathOf(t.context.upgraded.deposit(label));
      const headers = { ...entryHeaders(), ...final };
      const completed = await alice(t).post(`${path}metadata/`, helloEntry, headers);
      t.true(completed.ok, `${completed.status} ${await completed.text()}`);
      await alice(t).waitFor(`${path}status/`, 'done');
    }
    t.pass();
  });
}

function alice(t: ExecutionContext<Context>) {
  return t.context.upgraded.client('alice');
}

function tus(t: ExecutionContext<Context>): TusUploads {
  return new TusUploads(alice(t));
}

function upload(t: ExecutionContext<Context>, label: string): FrozenUpload {
  const found = t.context.upgraded.expected.uploads.find((one) => one.label === label);
  if (!found) throw new Error(`No upload was frozen as ${label}.`);
  return found;
}

function iriOf(id: string): string {
  return `/1/software/uploads/${id}/`;
}

async function assertArchive(t: ExecutionContext<Context>, edit: string): Promise<void> {
  const answer = await alice(t).get(edit.replace('metadata/', 'media/1/'));
  t.deepEqual(Buffer.from(await answer.bytes()), archive);
}
