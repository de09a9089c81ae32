import type { ExecutionContext } from 'ava';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  helloZip,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { makeDeposit, pathOf } from '../../testing/http/made-deposits.ts';
import { leavesNothing } from '../../testing/service/stored-things.ts';
import { type ServiceWith, testOfService } from '../../testing/service/test-of-service.ts';

type Context = ServiceWith<'alice'>;
const test = testOfService({
  alice: { collections: ['software'], providerUrl: 'https://alice.example/code' },
});

const better = entryXml(
  '<title>Better</title><author><name>Ada</name></author><external_identifier>better</external_identifier>',
);

/** Resolves to the path and the identifier of a deposit that is done. */
async function done(t: ExecutionContext<Context>): Promise<{ path: string; swhid: string; body: string }> {
  const path = await makeDeposit(t.context.alice);
  const body = await t.context.alice.waitFor(`${path}status/`, 'done');
  return { path, swhid: /<deposit_swh_id>([^<]+)</.exec(body)?.[1] ?? '', body };
}

function checking(swhid: string): Record<string, string> {
  return { ...entryHeaders(), 'X-Check-SWHID': swhid };
}

test('metadata can be added to a done deposit, whose status stays the same', async (t) => {
  const { alice, service } = t.context;
  const { path, swhid } = await done(t);
  const before = await (await alice.get(`${path}status/`)).text();
  for (const iri of [`${path}atom/`, `${path}metadata/`]) {
    const answer = await alice.put(iri, better, checking(swhid));
    t.is(answer.status, 204, await answer.text());
    const status = (await alice.get(`${path}status/`)).headers.get('etag');
    t.is(status, answer.headers.get('etag')?.replace(/"$/, '-xml"') ?? null, 'of the same revision');
  }
  const after = await (await alice.get(`${path}status/`)).text();
  const withoutTime = (body: string) => body.replace(/<updated>[^<]*<\/updated>/, '');
  t.is(withoutTime(after), withoutTime(before), 'title, status and identifiers');
  t.notRegex(after, /external_id/);
  const id = path.split('/')[3];
  const events = await Array.fromAsync(service.service.log.readStream(`deposit-${id}`));
  t.deepEqual(
    events.slice(-3).map(({ type }) => type),
    ['DepositLoaded', 'MetadataUpdated', 'MetadataUpdated'],
  );
  t.like(events.at(-1)?.data, { swhid });
  const history = await (await alice.get(`${path}history/`, { Accept: 'application/json' })).text();
  t.regex(history, /Metadata added to the finished deposit: \\"Better\\" by Ada/);
});

test.serial('a metadata update names no origin but that of its deposit', async (t) => {
  const { alice, service } = t.context;
  const url = 'https://alice.example/code/updated';
  const entry = (name: string) =>
    entryXml(
      `<title>T</title><author><name>A</name></author><d:${name}><d:origin url="${url}"/></d:${name}>`,
    );
  const form = formOf([archivePart(), entryPart(entry('create_origin'))]);
  const created = await alice.post('/1/software/', form, { ...formType, ...final });
  const path = pathOf(created);
  const body = await alice.waitFor(`${path}status/`, 'done');
  const swhid = /<deposit_swh_id>([^<]+)</.exec(body)?.[1] ?? '';
  t.is((await alice.put(`${path}metadata/`, entry('add_to_origin'), checking(swhid))).status, 204);
  for (const name of ['create_origin', 'add_to_origin']) {
    const other = entry(name).replace(url, `${url}/other`);
    await leavesNothing(t, service, async () => {
      const answer = await alice.put(`${path}metadata/`, other, checking(swhid));
      t.regex(await assertSwordError(t, answer, 400, 'ErrorBadRequest', name), /is from .*code\/updated:/);
    });
  }
});

test('Allow lists the metadata update where it is possible', async (t) => {
  const { alice } = t.context;
  const { path, swhid } = await done(t);
  const open = await makeDeposit(alice, partial);
  const allow = async (iri: string) => (await alice.send('OPTIONS', iri)).headers.get('allow');
  t.is(await allow(`${path}metadata/`), 'GET, HEAD, PUT, OPTIONS');
  t.is(await allow(`${path}media/`), 'GET, HEAD, OPTIONS');
  t.is(await allow(`${open}metadata/`), 'GET, HEAD, POST, PUT, DELETE, OPTIONS');
  const deleting = await alice.delete(`${path}metadata/`, { 'X-Check-SWHID': swhid });
  await assertSwordError(t, deleting, 405, 'MethodNotAllowed');
  t.is(deleting.headers.get('allow'), 'GET, HEAD, PUT, OPTIONS');
});

test.serial('an invalid metadata update is refused, and nothing is recorded', async (t) => {
  const { alice, service } = t.context;
  const { path, swhid } = await done(t);
  const open = await makeDeposit(alice, partial);
  const bare = await alice.post('/1/software/', better, { ...entryHeaders(), ...final });
  const rejected = new URL(bare.headers.get('location') ?? '').pathname;
  await alice.waitFor(rejected.replace('metadata/', 'status/'), 'rejected');
  const other = `swh:1:dir:${'0'.repeat(40)}`;
  const bad = entryXml('<author><name>A</name></author><codemeta:dateModified>soon</codemeta:dateModified>');
  const foreign = entryXml(
    '<title>T</title><author><name>A</name></author><d:create_origin><d:origin url="https://bob.example/"/></d:create_origin>',
  );
  const about = entryXml(
    `<title>T</title><author><name>A</name></author><d:reference><d:object swhid="${swhid}"/></d:reference>`,
  );
  await leavesNothing(t, service, async () => {
    const put = (iri: string, body: string, headers: Record<string, string>) => alice.put(iri, body, headers);
    const edit = `${path}metadata/`;
    const is400 = async (answer: Response, about: string) =>
      assertSwordError(t, answer, 400, 'ErrorBadRequest', about);
    const mismatch = await is400(await put(edit, better, checking(other)), 'another identifier');
    t.true(mismatch.includes(other) && mismatch.includes(swhid));
    const both = { ...checking(swhid), X_CHECK_SWHID: other };
    t.regex(await is400(await put(edit, better, both), 'two identifiers'), /sent twice/);
    for (const malformed of ['nonsense', `${swhid};origin=https://a.example`, swhid.toUpperCase()]) {
      await is400(await put(edit, better, checking(malformed)), malformed);
    }
    const reasons = await is400(await put(edit, bad, checking(swhid)), 'checks');
    t.regex(
      reasons,
      /fields are missing \(title, name\); "soon" is not a date.* \(codemeta:dateModified\)\.$/,
    );
    await is400(await put(`${open}metadata/`, better, checking(swhid)), 'has no identifier');
    await is400(await put(edit, '<entry/>', checking(swhid)), 'no entry');
    await is400(await put(edit, about, checking(swhid)), 'a reference');
    await assertSwordError(t, await put(edit, foreign, checking(swhid)), 403, 'Forbidden');
    const archive = await alice.put(edit, helloZip, { ...archiveHeaders(), 'X-Check-SWHID': swhid });
    await assertSwordError(t, archive, 415, 'ErrorContent');
    const form = await alice.put(edit, formOf([archivePart()]), { ...formType, 'X-Check-SWHID': swhid });
    t.is(form.status, 415);
    t.regex(await form.text(), /Accepted: application\/atom\+xml;type=entry\.</);
    const stale = await put(edit, better, { ...checking(swhid), 'If-Match': '"1-0"' });
    await assertSwordError(t, stale, 412, 'ETagNotMatched');
    for (const [iri, headers] of [
      [rejected, checking(swhid)],
      [edit, entryHeaders()],
    ] as const) {
      await assertSwordError(t, await put(iri, better, headers), 405, 'MethodNotAllowed', iri);
    }
    const bob = await fetch(new URL(edit, alice.url), {
      method: 'PUT',
      body: better,
      headers: checking(swhid),
    });
    await assertSwordError(t, bob, 401, 'Unauthorized');
  });
});
