import { tarOf } from '../../../testing/archives/archive-builders.ts';
import {
  entryHeaders,
  entryXml,
  final,
  helloTar,
  helloZip,
  partial,
} from '../../../testing/http/deposit-bodies.ts';
import { type Depositor, entryOf } from './depositor.ts';
import type { Site } from './site.ts';

const TAR = 'application/x-tar';
const TAR_NAMED = { 'Content-Type': TAR, 'Content-Disposition': 'attachment; filename=more.tar' };
const HEIDI_URL = '<codemeta:url>https://heidi.example/paint</codemeta:url>';
export const KEY = 'the key of a frozen request';

/** Makes deposits that need no work: done in every way, rejected, deleted, partial, and metadata without software. */
export async function makeSettled(site: Site, alice: Depositor, heidi: Depositor): Promise<void> {
  const id = await alice.whole('zip', helloZip);
  const { deposit_swh_id_context: context = '' } = await alice.reached(id, 'done');
  await alice.ofEntry(
    'metadata-only',
    entryOf('About zip', reference(`<d:object swhid="${context}"/>`)),
    final,
  );
  await makeWithArchives(alice);
  await makeUpdated(alice);
  await makeRejected(site, alice, heidi);
  await alice.ofArchive('partial-archive', helloTar, TAR);
  await alice.ofEntry('partial-entry', entryOf('Partial'), partial, 'drafts');
  const deleted = await alice.ofArchive('deleted', tarOf([{ name: 'a/b.txt', data: 'deleted\n' }]), TAR);
  await alice.send('DELETE', `/1/software/${deleted}/metadata/`);
  const keyed = await alice.whole('keyed', helloZip, entryOf('keyed'), {
    headers: { 'Idempotency-Key': KEY },
  });
  await alice.reached(keyed, 'done');
}

/** Deposits archives of several sizes: their objects are rows of a file, and files. */
async function makeWithArchives(alice: Depositor): Promise<void> {
  const many = Array.from({ length: 200 }, (_, number) => {
    return { name: `many/file-${number}.txt`, data: `file ${number}\n` };
  });
  const ids = [
    await alice.ofArchive('many-files', tarOf(many), TAR),
    await alice.ofArchive('large', tarOf([{ name: 'large/a.txt', data: 'line\n'.repeat(20_000) }]), TAR),
    await makeSeveral(alice),
  ];
  for (const id of ids) {
    await alice.complete(id, entryOf(`Deposit ${id}`));
    await alice.reached(id, 'done');
  }
}

async function makeSeveral(alice: Depositor): Promise<number> {
  const id = await alice.ofArchive('several', helloZip);
  for (const text of ['second', 'third', 'fourth']) {
    const archive = tarOf([{ name: `hello/${text}.txt`, data: `${text}\n` }]);
    await alice.send('POST', `/1/software/${id}/media/`, archive, { ...TAR_NAMED, ...partial });
  }
  const replacement = tarOf([{ name: 'hello/replaced.txt', data: 'replaced\n' }]);
  await alice.send('PUT', `/1/software/${id}/media/2/`, replacement, { ...TAR_NAMED, ...partial });
  await alice.send('DELETE', `/1/software/${id}/media/3/`);
  return id;
}

async function makeUpdated(alice: Depositor): Promise<void> {
  const id = await alice.whole('updated', helloZip);
  const { deposit_swh_id: swhid = '' } = await alice.reached(id, 'done');
  for (const title of ['Updated once', 'Updated twice']) {
    const headers = { ...entryHeaders(), 'X-Check-SWHID': swhid };
    await alice.send('PUT', `/1/software/${id}/metadata/`, entryOf(title), headers);
  }
}

async function makeRejected(site: Site, alice: Depositor, heidi: Depositor): Promise<void> {
  const faulty = await alice.whole('rejected-entry', helloZip, entryXml('<title>Without author</title>'));
  await alice.reached(faulty, 'rejected');
  const cut = await alice.whole('rejected-archive', helloZip.subarray(0, helloZip.length - 30));
  await alice.reached(cut, 'rejected');
  const rechecked = await heidi.whole('rechecked', helloZip, entryOf('rechecked', HEIDI_URL));
  await heidi.reached(rechecked, 'rejected');
  await site.run('client', ['set', 'heidi', '--domain', 'heidi.example']);
  await site.run('retry', [String(rechecked), '--recheck']);
  for (let status = ''; status !== 'done'; ) status = (await heidi.status(rechecked)).deposit_status;
  await site.run('client', ['set', 'heidi', '--domain', 'wrong.example']);
  const due = await heidi.whole('recheck-due', helloZip, entryOf('recheck-due', HEIDI_URL));
  await heidi.reached(due, 'rejected');
}

function reference(what: string): string {
  return `<d:deposit><d:reference>${what}</d:reference></d:deposit>`;
}
