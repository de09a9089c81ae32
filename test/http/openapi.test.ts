import { Validator } from '@seriousme/openapi-schema-validator';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { OPEN_ROUTES, ROUTES } from '../../src/http/route-table.ts';
import { errorIri } from '../../src/sword/documents/error-document.ts';
import { SWORD_ERRORS, type SwordErrorCode } from '../../src/sword/sword-error.ts';
import {
  type Call,
  type Checked,
  DescribedService,
  type Operation,
} from '../../testing/documents/described-service.ts';
import { describe } from '../../testing/documents/openapi-document.ts';
import { assertSameFacts } from '../../testing/documents/same-facts.ts';
import { assertErrorDocument } from '../../testing/documents/sword-error.ts';
import { archiveHeaders, helloTar } from '../../testing/http/deposit-bodies.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { metadataOf, pieceHeaders, TUS, TusUploads } from '../../testing/http/tus-uploads.ts';
import { until } from '../../testing/processes/until.ts';
import { deposit, notifiedService, notify } from '../../testing/service/notified-service.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { EXERCISES, type World } from './openapi-exercises.ts';
import {
  damageArchives,
  duringWrites,
  FULL,
  type Refusal,
  type Sender,
  sendHalfAHead,
  sendOtherVersion,
  wrongRequests,
} from './openapi-refusals.ts';

type Context = {
  service: RunningService;
  alice: TestClient;
  described: DescribedService;
  world: World;
  /** A value for each parameter of a path, chosen so that every operation is possible. */
  everything: Values;
};
const test = anyTest as TestFn<Context>;

const collection = 'software';
const JSON_TYPE = 'application/json';
/** Requests JSON for an error, also if the same IRI has JSON that is no error. */
const RATHER_JSON = 'application/zip, application/json;q=0.9';

type Values = Readonly<Record<string, string | number>>;

test.before(async (t) => {
  const { service, keyFile } = await notifiedService({ firstPause: 3_600_000 });
  t.context.service = service; // to be ended in any case
  const alice = await service.register('alice', { collections: [collection] });
  // No process listens there: failed notifications are listed.
  await notify(
    service,
    'alice',
    { url: 'http://127.0.0.1:1/', secret: `whsec_${btoa('x'.repeat(32))}` },
    keyFile,
  );
  const done = await deposit(alice, collection);
  const status = await alice.waitFor(`/1/${collection}/${done}/status/`, 'done');
  const swhid = /<deposit_ref_id>(.*?)</.exec(status)?.[1] ?? '';
  const uploads = new TusUploads(alice, collection);
  const idOf = (iri: string): string => iri.split('/').at(-2) ?? '';
  const world = {
    collection,
    done: { deposit: done, swhid },
    partial: () => deposit(alice, collection, { 'In-Progress': 'true' }),
    tar: async () => {
      const headers = { ...archiveHeaders('hello.tar', 'application/x-tar'), 'In-Progress': 'true' };
      const answer = await alice.post(`/1/${collection}/`, helloTar, headers);
      return Number(/<deposit_id>(\d+)</.exec(await answer.text())?.[1]);
    },
    ready: () => until(async () => (await fetch(`${service.url}/health/ready`)).ok),
    upload: async () => idOf(await uploads.begin(helloTar.length)),
    wholeUpload: () =>
      uploads.whole(helloTar, metadataOf({ filename: 'hello.tar', filetype: 'application/x-tar' })),
  };
  const description = await fetch(`${service.url}/openapi.json`);
  const described = new DescribedService(await description.json());
  const everything = {
    collection,
    deposit: await world.partial(),
    file: 1,
    upload: await world.upload(),
    swhid,
  };
  t.context = { service, alice, world, described, everything };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

test('the description is valid OpenAPI 3.1, and its schemas are valid JSON Schema', async (t) => {
  const { described, service } = t.context;
  const { valid, errors } = await new Validator().validate(structuredClone(described.document));
  t.true(valid, JSON.stringify(errors));
  t.notThrows(() => described.compileAll());
  t.deepEqual(described.document['servers'], [{ url: service.url }]);
});

test('the description is linked from the page and the service document, is public and cacheable', async (t) => {
  const { service, alice } = t.context;
  const iri = `${service.url}/openapi.json`;
  for (const answer of [await fetch(service.url), await alice.get('/1/servicedocument/')]) {
    t.is(answer.headers.get('link'), `<${iri}>; rel="service-desc"; type="application/json"`);
  }
  t.true(
    (await (await fetch(service.url)).text()).includes(
      `<link rel="service-desc" type="application/json" href="${iri}">`,
    ),
  );
  const answer = await fetch(iri, { headers: { Accept: 'application/vnd.oai.openapi+json' } });
  t.is(answer.headers.get('content-type'), 'application/vnd.oai.openapi+json;version=3.1');
  t.is(answer.headers.get('cache-control'), 'max-age=3600');
  const held = await fetch(iri, { headers: { 'If-None-Match': answer.headers.get('etag') ?? '' } });
  t.is(held.status, 304);
  const posted = await fetch(iri, { method: 'POST' });
  t.is(posted.headers.get('allow'), 'GET, HEAD, OPTIONS');
  assertErrorDocument(t, await posted.text(), 'MethodNotAllowed');
});

test('exactly the paths and methods of the router are described', async (t) => {
  const { described, alice, everything } = t.context;
  const routes = Object.values({ ...OPEN_ROUTES, ...ROUTES });
  const asRoute = (template: string): string =>
    template
      .replace(/(?<=.)\/$/, '')
      .replace('{swhid}', '*swhid')
      .replace(/\{(\w+)\}/g, ':$1');
  t.deepEqual(Object.keys(described.document.paths).map(asRoute).toSorted(), routes.toSorted());
  for (const [template, item] of Object.entries(described.document.paths)) {
    const methods = Object.keys(item).filter((key) => key !== 'parameters');
    const target = template.replace(/\{(\w+)\}/g, (_whole, name: string) => String(everything[name]));
    // A method that is not possible is answered with the possible ones, also if OPTIONS is not.
    const answer = await alice.send('PROPFIND', target);
    const allow = (answer.headers.get('allow') ?? '').toLowerCase().split(', ');
    t.deepEqual(methods.toSorted(), allow.toSorted(), `${answer.status} ${template}`);
  }
});

test('every operation works as described, and answers JSON with the same facts if preferred', async (t) => {
  const { described, world, everything } = t.context;
  const seen = new Set<string>();
  for (const id of described.operations.keys()) {
    const send = async (call: Call): Promise<Checked> => {
      const answer = await sendTwice(t, id, call);
      seen.add(`${id} ${answer.status}`);
      return answer;
    };
    if (id.endsWith('Options')) await send({ path: pathOf(described, id, everything) });
    else await EXERCISES[id.replace(/Head$/, '')]?.(send, world);
  }
  const unseen = statusesOf(described).filter(
    ({ id, status }) => status < 400 && !seen.has(`${id} ${status}`),
  );
  t.deepEqual(unseen, [], 'described, but no response was like this');
});

test('every document is available as JSON, except bytes, event streams and IRIs of one type', (t) => {
  const without = [...t.context.described.operations.values()].filter(({ method, responses }) => {
    const content = responses['200']?.content ?? responses['201']?.content;
    return method === 'get' && !(JSON_TYPE in (content ?? {}));
  });
  const expected = ['followCollection', 'followDeposit', 'getArchive', 'getMediaFeed', 'getStatementRdf'];
  t.deepEqual(without.map(({ id }) => id).toSorted(), expected);
});

test('refusals are as described, in XML and in JSON', async (t) => {
  const { described, service, alice, everything } = t.context;
  const stranger = anonymous(service);
  const ofAnotherSite = { 'Sec-Fetch-Site': 'cross-site' };
  for (const { id, isOpen, method, parameters } of described.operations.values()) {
    if (isOpen) continue;
    const own = pathOf(described, id, everything);
    await refused(t, id, stranger, { path: own }, 401, 'Unauthorized');
    if (!['get', 'head', 'options'].includes(method))
      await refused(t, id, alice, { path: own, headers: ofAnotherSite }, 403, 'Forbidden');
    if (!parameters.some((one) => one.name === 'collection')) continue;
    await refused(t, id, alice, { path: { ...own, collection: 'other' } }, 404, 'NotFound');
  }
});

test('every error of the service occurs, as described', async (t) => {
  const { alice, described, service, world } = t.context;
  const seen = new Set<string>();
  const expectRefusal = async (client: Sender, [id, call, status, name]: Refusal): Promise<void> => {
    await refused(t, id, client, call, status, name);
    seen.add(`${status} ${name}`);
  };
  for (const one of await wrongRequests(world)) await expectRefusal(alice, one);
  await expectRefusal(anonymous(service), ['getServiceDocument', {}, 401, 'Unauthorized']);
  const piece = { path: { collection, upload: 'x' }, headers: pieceHeaders(1), body: 'b' };
  const writer = await service.register('writer', { collections: [collection] });
  await expectRefusal(duringWrites(writer), ['continueUpload', piece, 423, 'UploadLocked']);

  await using full = await RunningService.start({ headersTime: 1000, uploadLimits: FULL });
  const bob = await full.register('bob', { collections: [collection] });
  const carol = await full.register('carol', { collections: [collection] });
  await new TusUploads(bob, collection).begin(FULL.maxSize);
  const begun = { path: { collection }, headers: { ...TUS, 'Upload-Length': String(FULL.maxSize) } };
  await expectRefusal(bob, ['beginUpload', begun, 429, 'TooManyRequests']);
  await expectRefusal(carol, ['beginUpload', begun, 503, 'ServiceUnavailable']);
  const damaged = { collection, deposit: await deposit(bob, collection, { 'In-Progress': 'true' }) };
  damageArchives(full);
  await expectRefusal(bob, ['getArchives', { path: damaged }, 500, 'InternalError']);

  const errors = Object.entries(SWORD_ERRORS).map(
    ([code, { status }]) =>
      `${status} ${errorIri(code as SwordErrorCode, '')
        .split('/')
        .at(-1)}`,
  );
  t.deepEqual([...seen].toSorted(), errors.toSorted());

  const late = await described.call('getLandingPage', { send: () => sendHalfAHead(full.url) });
  const padded = await described.call('getLandingPage', alice, { headers: { 'X-Much': 'x'.repeat(20_000) } });
  const long = await described.call('getLandingPage', {
    send: () => fetch(new URL(`/?${'x'.repeat(9000)}`, full.url)),
  });
  const other = await described.call('getLandingPage', { send: () => sendOtherVersion(full.url) });
  const ofHttp = [late, padded, long, other];
  t.deepEqual(
    ofHttp.flatMap(({ status, problems }) => [status, ...problems]),
    [408, 431, 414, 505],
  );
  const occurred = new Set([
    ...[...seen].map((one) => Number.parseInt(one, 10)),
    ...ofHttp.map(({ status }) => status),
  ]);
  const unseen = statusesOf(described).filter(({ status }) => status >= 400 && !occurred.has(status));
  t.deepEqual(unseen, [], 'described, but no refusal was like this');
});

test('the described maxima are those of the service', async (t) => {
  const { alice, world } = t.context;
  const { parameters } = (await describe()).components;
  const list = `/1/${collection}/`;
  const history = `/1/${collection}/${world.done.deposit}/history/`;
  for (const [name, path] of Object.entries({ page_size: list, page: list, from: history })) {
    const described = Object.values(parameters).find((parameter) => parameter.name === name);
    const maximum = described?.schema?.['maximum'] as number;
    const statusAt = async (value: number) => (await alice.get(`${path}?${name}=${value}`)).status;
    t.not(await statusAt(maximum), 400, name);
    t.is(await statusAt(maximum + 1), 400, name);
  }
});

test('status-change events are as described, in all their channels', async (t) => {
  const { described, alice, world } = t.context;
  const { body } = await described.call('followDeposit', alice, {
    path: { collection, deposit: world.done.deposit },
  });
  const [, data = ''] = /^data: (.*)$/m.exec(body) ?? [];
  t.deepEqual(described.schemaProblems('DepositNews', JSON.parse(data)), []);
  let listed = '';
  await until(async () => {
    listed = (await described.call('listUndelivered', alice, { path: { collection } })).body;
    return listed.includes('"waiting":[{');
  });
  t.deepEqual(described.schemaProblems('Undelivered', JSON.parse(listed)), []);
});

function anonymous({ url }: RunningService): Sender {
  return { send: (method, target, init) => fetch(new URL(target, url), { ...init, method }) };
}

/** Sends the request, and again for JSON if that is offered, which must show the same facts. */
async function sendTwice(t: ExecutionContext<Context>, id: string, call: Call): Promise<Checked> {
  const { described, alice } = t.context;
  const answer = await described.call(id, alice, call);
  t.deepEqual(answer.problems, []);
  const operation = described.operations.get(id) as Operation;
  const offered = operation.responses[String(answer.status)]?.content ?? {};
  const wanted = call.headers?.['Accept'];
  if (wanted === JSON_TYPE) t.is(answer.contentType, JSON_TYPE, id);
  if (operation.method !== 'get' || !(JSON_TYPE in offered) || wanted) return answer;
  const json = await described.call(id, alice, { ...call, headers: { ...call.headers, Accept: JSON_TYPE } });
  t.deepEqual(json.problems, []);
  t.is(json.contentType, JSON_TYPE, id);
  t.is(json.status, answer.status, id);
  if (answer.contentType?.endsWith('xml')) assertSameFacts(t, id, json.body, answer.body);
  return answer;
}

async function refused(
  t: ExecutionContext<Context>,
  id: string,
  client: Sender,
  call: Call,
  status: number,
  name: string,
): Promise<void> {
  const { described } = t.context;
  const xml = await described.call(id, client, call);
  if (described.operations.get(id)?.method === 'head') {
    t.deepEqual([xml.status, xml.contentType, xml.problems], [status, 'application/xml', []], id);
    return;
  }
  const json = await described.call(id, client, {
    ...call,
    headers: { ...call.headers, Accept: RATHER_JSON },
  });
  const shown = [xml.status, xml.contentType, json.status, json.contentType];
  t.deepEqual(shown, [status, 'application/xml', status, JSON_TYPE], `${id} ${xml.body}`);
  t.deepEqual([...xml.problems, ...json.problems], []);
  assertErrorDocument(t, xml.body, name, id);
  assertSameFacts(t, id, json.body, xml.body);
}

function pathOf(described: DescribedService, id: string, values: Values): Values {
  const parameters = described.operations.get(id)?.parameters ?? [];
  const inPath = parameters.filter((one) => one.in === 'path');
  return Object.fromEntries(inPath.map(({ name }) => [name, values[name] ?? '']));
}

/** Returns every status of every operation. */
function statusesOf({ operations }: DescribedService) {
  return [...operations.values()].flatMap(({ id, responses }) =>
    Object.keys(responses).map((status) => ({ id, status: Number(status) })),
  );
}
