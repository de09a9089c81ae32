import anyTest, { type TestFn } from 'ava';
import { contentId } from '../../src/swhid/content.ts';
import { directoryId } from '../../src/swhid/directory.ts';
import { readList } from '../../testing/documents/listed-deposits.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { pathOf } from '../../testing/http/made-deposits.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { leavesNothing } from '../../testing/service/stored-things.ts';

type Loaded = { id: string; swhid: string; context: string; snp: string; rev: string; origin: string };
type Context = { service: RunningService; alice: TestClient; bob: TestClient; paint: Loaded };
const test = anyTest as TestFn<Context>;

const PROVIDER = 'https://alice.example/code';
const paintOrigin = `${PROVIDER}/paint;v=1`;
const withoutUrl = '<title>About Paint</title><author><name>Ada</name></author>';
const mandatory = `${withoutUrl}<codemeta:url>https://alice.example/</codemeta:url>`;

test.before(async (t) => {
  const service = await RunningService.start();
  const alice = await service.register('alice', {
    collections: ['software', 'words'],
    providerUrl: PROVIDER,
    domain: 'alice.example',
  });
  const bob = await service.register('bob', {
    collections: ['software'],
    providerUrl: 'https://bob.example',
  });
  t.context = { service, alice, bob, paint: await load(alice, paintOrigin) };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

async function load(client: TestClient, origin: string): Promise<Loaded> {
  const url = `<codemeta:url>${origin}</codemeta:url>`;
  const xml = entryXml(`${mandatory}${url}<d:create_origin><d:origin url="${origin}"/></d:create_origin>`);
  const form = formOf([archivePart(), entryPart(xml)]);
  const answer = await client.post('/1/software/', form, { ...formType, ...final });
  const path = new URL(answer.headers.get('location') ?? '').pathname;
  const body = await client.waitFor(path.replace('metadata/', 'status/'), 'done');
  const context = valueIn(body, 'deposit_swh_id_context');
  return {
    id: path.split('/')[3] ?? '',
    swhid: valueIn(body, 'deposit_swh_id'),
    context,
    snp: /visit=(swh:1:snp:\w{40})/.exec(context)?.[1] ?? '',
    rev: /anchor=(swh:1:rev:\w{40})/.exec(context)?.[1] ?? '',
    origin,
  };
}

function valueIn(body: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)<`).exec(body)?.[1] ?? '';
}

const hello = Buffer.from('print("hello")\n');
const helloFile = `swh:1:cnt:${contentId(hello)}`;

const object = (swhid: string) =>
  `<d:deposit><d:reference><d:object swhid="${swhid}"/></d:reference></d:deposit>`;
const origin = (url: string) => `<d:deposit><d:reference><d:origin url="${url}"/></d:reference></d:deposit>`;
const provenance = (url: string) =>
  `<d:deposit><d:metadata-provenance><s:url xmlns:s="http://schema.org/">${url}</s:url></d:metadata-provenance></d:deposit>`;

function describe(
  client: TestClient,
  content: string,
  headers: Record<string, string> = final,
  collection = 'software',
): Promise<Response> {
  return client.post(`/1/${collection}/`, entryXml(content), { ...entryHeaders(), ...headers });
}

test('metadata about an identifier are a deposit, completed within the request', async (t) => {
  const { alice, service, paint } = t.context;
  const answer = await describe(alice, mandatory + object(paint.context) + provenance(PROVIDER));
  const receipt = await answer.text();
  t.is(answer.status, 201, receipt);
  t.is(valueIn(receipt, 'deposit_status'), 'done');
  t.is(valueIn(receipt, 'deposit_archive'), 'None');
  const path = new URL(answer.headers.get('location') ?? '').pathname;
  const status = await (await alice.get(path.replace('metadata/', 'status/'))).text();
  t.is(valueIn(status, 'deposit_swh_id'), paint.swhid);
  t.is(valueIn(status, 'deposit_swh_id_context'), paint.context);
  t.is(valueIn(status, 'deposit_status_detail'), 'The metadata have been deposited.');
  const events = await Array.fromAsync(
    service.service.log.readStream(`deposit-${valueIn(receipt, 'deposit_id')}`),
  );
  t.deepEqual(
    events.map(({ type }) => type),
    ['DepositCreated', 'MetadataAdded', 'MetadataDeposited'],
  );
  const update = { ...entryHeaders(), 'X-Check-SWHID': paint.swhid };
  t.is((await alice.put(path, entryXml(mandatory), update)).status, 204, 'it is done and can be updated');
  const outside = await alice.put(path, entryXml(withoutUrl), update);
  t.regex(await assertSwordError(t, outside, 400, 'ErrorBadRequest'), /expected alice\.example, found none/);
  t.is((await alice.delete(path)).status, 405);
});

test('a SWHID with qualifiers in another order is returned in canonical order', async (t) => {
  const { alice, paint } = t.context;
  const [core = '', ...qualifiers] = paint.context.split(';');
  const turned = [core, ...qualifiers.toReversed()].join(';');
  const answer = await describe(alice, mandatory + object(turned), {});
  const status = `${pathOf(answer)}status/`;
  const body = await (await alice.get(status)).text();
  t.is(valueIn(body, 'deposit_swh_id_context'), paint.context);
  t.regex(body, /Warnings:\n- Suggested fields are missing \(metadata-provenance\)/);
});

test('directory, revision, snapshot and origin of a deposit can be described, in any collection', async (t) => {
  const { alice, paint } = t.context;
  const references = [
    object(paint.swhid),
    object(paint.rev),
    object(paint.snp),
    object(`${paint.swhid};anchor=${paint.rev}`),
    object(`${paint.swhid};anchor=${paint.snp}`),
    object(`${paint.swhid};visit=${paint.snp};anchor=${paint.swhid};path=/`),
    object(`${paint.rev};visit=${paint.snp}`),
    origin(paint.origin),
  ];
  for (const reference of references) {
    const answer = await describe(alice, mandatory + reference, final, 'words');
    t.is(answer.status, 201, await answer.text());
  }
  const described = await describe(alice, mandatory + origin(paint.origin));
  const status = `${pathOf(described)}status/`;
  t.is(valueIn(await (await alice.get(status)).text(), 'deposit_swh_id'), '', 'an origin has no identifier');
});

test('a content or directory inside a deposit can be described with its context', async (t) => {
  const { alice, paint } = t.context;
  const folder = directoryId(new Map([['hello.py', { mode: '100644', id: contentId(hello) }]]));
  const references = [
    `${helloFile};origin=${paint.origin.replace(';', '%3B')};visit=${paint.snp};anchor=${paint.rev};path=/hello/hello.py;lines=1`,
    `${helloFile};anchor=${paint.swhid};path=/hello/hello.py;lines=1-1`,
    `${helloFile};anchor=${paint.rev}`,
    `swh:1:dir:${folder};anchor=${paint.rev};path=/hello`,
  ];
  for (const reference of references) {
    const answer = await describe(alice, mandatory + object(reference));
    t.is(answer.status, 201, await answer.text());
  }
});

test('a metadata-only deposit adds no version to an origin', async (t) => {
  const { alice, paint } = t.context;
  const list = `/1/software/?status=done&origin=${encodeURIComponent(paint.origin)}`;
  const described = await describe(alice, mandatory + origin(paint.origin));
  t.is(described.status, 201, await described.text());
  const { deposits } = await readList(await alice.get(list));
  t.deepEqual(
    deposits.map(({ id }) => id),
    [paint.id],
  );
});

test('a deposit can be described as soon as its status is done', async (t) => {
  const { alice } = t.context;
  const rounds = Array.from({ length: 5 }, async (_, round) => {
    const { context } = await load(alice, `${PROVIDER}/round-${round}`);
    const answer = await describe(alice, mandatory + object(context));
    t.is(answer.status, 201, await answer.text());
  });
  await Promise.all(rounds);
});

test('the same request with the same key is one deposit', async (t) => {
  const { alice, paint } = t.context;
  const key = { ...final, 'Idempotency-Key': `"about-${paint.id}"` };
  const [first, second] = [
    await describe(alice, mandatory + object(paint.rev), key),
    await describe(alice, mandatory + object(paint.rev), key),
  ];
  t.is(second.status, 201, await second.text());
  t.is(first.headers.get('location'), second.headers.get('location'));
});

test('a request is repeated though its client may no longer see what the entry describes', async (t) => {
  const { service } = t.context;
  const carol = await service.register('carol', {
    collections: ['software', 'words'],
    providerUrl: PROVIDER,
  });
  const { rev } = await load(carol, `${PROVIDER}/carol`);
  const about = mandatory + object(`${helloFile};anchor=${rev};path=/hello/hello.py`);
  const key = { ...final, 'Idempotency-Key': '"about-carol"' };
  const first = await describe(carol, about, key, 'words');
  t.is(first.status, 201, await first.text());
  await service.administration.client({
    type: 'RevokeCollection',
    client: 'carol',
    collection: 'software',
  });
  t.is((await describe(carol, about, final, 'words')).status, 400, 'a new request names what it cannot see');
  const second = await describe(carol, about, key, 'words');
  t.is(second.status, 201, await second.text());
  t.is(second.headers.get('location'), first.headers.get('location'));
});

test.serial('an unknown or invalid reference is refused, and nothing is recorded', async (t) => {
  const { service, alice, bob, paint } = t.context;
  const zeros = '0'.repeat(40);
  const bad: Record<string, RegExp> = {
    [object(`swh:1:dir:${zeros}`)]: /no deposit of this client/,
    [object(`swh:1:rel:${zeros}`)]: /no deposit of this client/,
    [object(`swh:1:cnt:${zeros};path=/a`)]: /by the anchor or the visit of its deposit/,
    [object(`${helloFile};path=/hello/hello.py`)]: /by the anchor or the visit of its deposit/,
    [object(`${helloFile};anchor=${paint.rev};path=/hello/other.py`)]: /not in a deposit of this client that/,
    [object(`swh:1:cnt:${zeros};anchor=${paint.rev}`)]: /not in a deposit of this client that/,
    [object(`${helloFile};anchor=swh:1:rev:${zeros};path=/hello/hello.py`)]: /not in a deposit of this/,
    [object(`${paint.swhid};origin=https://elsewhere.example/`)]: /not in that context/,
    [object(`${paint.swhid};visit=swh:1:snp:${zeros}`)]: /not in that context/,
    [object(`${paint.swhid};anchor=swh:1:rev:${zeros}`)]: /not in that context/,
    [object(`${paint.swhid};path=/src`)]: /not in that context/,
    [object(`${paint.swhid};visit=${paint.rev}`)]: /has a visit of the type rev/,
    [object(`${paint.swhid};visit=${paint.snp};anchor=${paint.snp}`)]: /snapshot as anchor and a visit/,
    [object(`${paint.swhid};lines=1-2`)]: /has lines/,
    [object(`${paint.rev};path=/`)]: /has a path/,
    [object(`swh:1:cnt:${zeros};lines=9-2`)]: /end before they begin/,
    [object(`${paint.swhid};origin=`)]: /not an IRI/,
    [object(`${paint.swhid};colour=red`)]: /unknown qualifier/,
    [object(`${paint.swhid};path=/;path=/`)]: /path twice/,
    [object(paint.swhid.toUpperCase())]: /no core identifier|not a core identifier/,
    [object(`${paint.swhid} `.replace('dir:', 'dir:x'))]: /not a core identifier/,
    [origin(`${PROVIDER}/unknown`)]: /no deposit from there that is done/,
    [object(paint.swhid) + origin(paint.origin)]: /exactly one/,
  };
  await leavesNothing(t, service, async () => {
    for (const [reference, reason] of Object.entries(bad)) {
      const answer = await describe(alice, mandatory + reference);
      t.regex(await assertSwordError(t, answer, 400, 'ErrorBadRequest', reference), reason, reference);
    }
    const refused = async (answer: Response, reason: RegExp) =>
      t.regex(await assertSwordError(t, answer, 400, 'ErrorBadRequest'), reason);
    const good = mandatory + object(paint.context);
    await refused(await describe(bob, good), /not in a deposit of this client/);
    await refused(await describe(bob, mandatory + object(paint.swhid)), /no deposit of this client/);
    await refused(await describe(bob, mandatory + origin(paint.origin)), /this client has no deposit/);
    await refused(await describe(alice, good, partial), /In-Progress: false/);
    await refused(await describe(alice, good, { ...final, Slug: 'paint' }), /Slug/);
    await refused(await describe(alice, `<title>T</title>${object(paint.swhid)}`), /missing \(author\)/);
    await refused(
      await describe(alice, withoutUrl + object(paint.swhid)),
      /expected alice\.example, found none/,
    );
    const form = formOf([entryPart(entryXml(good)), archivePart()]);
    await refused(await alice.post('/1/software/', form, { ...formType, ...final }), /deposited alone/);
    const creating = `${good}<d:create_origin><d:origin url="${PROVIDER}/x"/></d:create_origin>`;
    await refused(await describe(alice, creating), /has no software/);
    const vouched = await describe(alice, good + provenance('https://bob.example/'));
    await assertSwordError(t, vouched, 403, 'Forbidden');
  });
});

test('a software deposit refuses a reference added later', async (t) => {
  const { alice, paint } = t.context;
  const opened = await alice.post('/1/software/', formOf([archivePart()]), { ...formType, ...partial });
  const path = new URL(opened.headers.get('location') ?? '').pathname;
  for (const send of [
    alice.post(path, entryXml(mandatory + object(paint.swhid)), entryHeaders()),
    alice.put(path, entryXml(mandatory + object(paint.swhid)), entryHeaders()),
  ]) {
    await assertSwordError(t, await send, 400, 'ErrorBadRequest');
  }
});
