import { randomUUID } from 'node:crypto';
import type { RecordedEvent } from '../../../src/event-log/event-log.ts';
import type { LiveChange } from '../../../src/modules/console/protocol/live-change.ts';
import { depositOf } from '../../../testing/browser/console-deposits.ts';
import { ConsoleSession } from '../../../testing/browser/sign-in.ts';
import { until } from '../../../testing/processes/until.ts';
import { type ServiceWith, testOfService } from '../../../testing/service/test-of-service.ts';

const test = testOfService({ dora: { collections: ['software', 'papers'] } });

test('a depositor gets nothing of a collection from the revocation of its grant until the next grant', async (t) => {
  const { service, dora } = t.context;
  const id = await depositOf(dora, { title: 'Quince', filename: 'quince.zip' });
  const other = await depositOf(dora, { title: 'Medlar', collection: 'papers' });
  const { routes } = (await (
    await (await ConsoleSession.begin(service, 'operator')).get('/console/api/routes')
  ).json()) as { routes: { method: string; path: string; permission: string }[] };
  const person = await ConsoleSession.begin(service, 'depositor', 'dora');
  const client = await ConsoleSession.ofClient(service.url, 'dora', 'secret');
  const { row } = (await (await person.get(`/console/api/deposits/${id}`)).json()) as {
    row: {
      readonly directory: string;
      readonly uuid: string;
      readonly origin: string;
      readonly archives: { sha256: string }[];
    };
  };
  const archive = row.archives[0]?.sha256 ?? '';
  const texts = ['quince', String(id), row.uuid, `swh:1:dir:${row.directory}`, row.origin];
  const targets = routes
    .filter(({ permission }) => permission === 'deposits:read' || permission === 'contents:read')
    .map(({ path }) => path.replace(':id', String(id)).replace(':format', 'csv').replace(':archive', archive))
    .filter((path) => path.startsWith('/console/api/') && path !== '/console/api/live')
    .flatMap((path) => {
      if (path.endsWith('/search')) return texts.map((text) => `${path}?q=${encodeURIComponent(text)}`);
      return path.endsWith('/bytes') ? `${path}?swhid=swh:1:dir:${row.directory};path=/` : path;
    });
  const names = new RegExp(`Quince|hello\\.py|"done":2|"depositId":${id}\\b`);
  const namedBy = async (session: ConsoleSession) => {
    const named: string[] = [];
    for (const target of targets) {
      const answer = await session.get(target);
      const text = await answer.text();
      const isOfDeposit = target.includes(`/deposits/${id}`); // answers 404 like any that does not exist
      if (isOfDeposit) t.true([200, 404].includes(answer.status), target);
      if (isOfDeposit ? answer.status === 200 : names.test(text)) named.push(target);
    }
    return named;
  };
  const isGranted = (granted: boolean) =>
    until(async () => ((await dora.get('/1/software/')).status === 200) === granted);
  for (const session of [person, client]) t.deepEqual(await namedBy(session), targets);
  await service.administration.client({ type: 'RevokeCollection', client: 'dora', collection: 'software' });
  await isGranted(false);
  for (const session of [person, client]) {
    t.deepEqual(await namedBy(session), []);
    t.is((await session.get(`/console/api/deposits/${other}`)).status, 200);
  }
  await service.administration.grant('dora', 'software');
  await isGranted(true);
  for (const session of [person, client]) t.deepEqual(await namedBy(session), targets);
});

test('an open event stream stops naming deposits of a collection when its grant is revoked', async (t) => {
  const { service } = t.context;
  const erin = await service.register('erin', {
    collections: ['software', 'papers'],
    domain: 'erin.example',
  });
  const id = await depositOf(erin, { title: 'Walnut', status: 'rejected' });
  const abort = new AbortController();
  const session = await ConsoleSession.begin(service, 'depositor', 'erin');
  const changes = await openLive(service, session, abort);
  const operator = await ConsoleSession.begin(service, 'operator');
  const recheck = async () => {
    const answer = await operator.post('/console/api/jobs', { act: 'recheck', ids: [id] });
    const job = `/console/api/jobs/${((await answer.json()) as { id: string }).id}`;
    await until(async () => ((await (await operator.get(job)).json()) as { state: string }).state === 'done');
    await until(async () =>
      /"status":"rejected"/.test(await (await operator.get(`/console/api/deposits/${id}`)).text()),
    );
  };
  /** Checks the deposit again, and resolves to whether the stream names it before a change that follows. */
  const isNamed = async () => {
    await recheck();
    const marker = await depositOf(erin, { title: 'Marker', collection: 'papers', status: 'partial' });
    const named = new Set<number>();
    while (!named.has(marker)) {
      const { value, done } = await changes.next();
      if (done) throw new Error('The stream has ended.');
      named.add(value.depositId);
    }
    return named.has(id);
  };
  t.true(await isNamed());
  await service.administration.client({ type: 'RevokeCollection', client: 'erin', collection: 'software' });
  t.false(await isNamed());
  await service.administration.grant('erin', 'software');
  t.true(await isNamed());
  abort.abort();
});

test('an open event stream passes over an event of a newer release', async (t) => {
  const { dora } = t.context;
  const { changes, abort, id, last, log, failed } = await followDeposit(t.context, 'Sorrel');
  const { metadata, revision } = last;
  const newer = { id: randomUUID(), type: 'DepositAdmired', data: { depositId: id }, metadata };
  await log.append(last.stream, revision, [newer]);
  const next = await Promise.race([failed, depositOf(dora, { collection: 'papers', status: 'partial' })]);
  let shown: number | undefined;
  for await (const { depositId, type } of changes) {
    t.not(type, 'DepositAdmired');
    shown = depositId;
    if (shown === next) break;
  }
  t.is(shown, next, 'the stream goes on');
  abort.abort();
});

test('an open event stream shows an event of foreign origin, which names no actor', async (t) => {
  const { service } = t.context;
  const { changes, abort, id, last, log, failed } = await followDeposit(t.context, 'Tansy');
  const { actor: _, ...metadata } = last.metadata;
  await log.append(last.stream, last.revision, [{ ...last, id: randomUUID(), metadata }]);
  const seen = async () => {
    for await (const change of changes)
      if (change.depositId === id && change.revision > last.revision) return change;
    return undefined;
  };
  const change = await Promise.race([failed, seen()]);
  t.like(change, { type: last.type, actor: { kind: 'unknown', name: '' } });
  t.is((await fetch(new URL('/health/ready', service.url))).status, 200);
  abort.abort();
});

test('an open event stream ends when its role is revoked, and shows depositors no names of persons', async (t) => {
  const { service } = t.context;
  const frank = await service.register('frank', { collections: ['papers'], domain: 'frank.example' });
  const abort = new AbortController();
  const open = (session: ConsoleSession) => openLive(service, session, abort);
  const operator = await ConsoleSession.begin(service, 'operator');
  const demoted = await ConsoleSession.begin(service, 'auditor');
  const [changes, own] = [
    await open(demoted),
    await open(await ConsoleSession.ofClient(service.url, 'frank', 'secret')),
  ];
  const before = await depositOf(frank, { title: 'Before', collection: 'papers', status: 'rejected' });
  /** Resolves to the changes up to the one that is wanted. */
  const upTo = async (from: AsyncGenerator<LiveChange>, isWanted: (change: LiveChange) => boolean) => {
    const found: LiveChange[] = [];
    for (let last = found.at(-1); !last || !isWanted(last); last = found.at(-1)) {
      const { value, done } = await from.next();
      if (done) throw new Error('The stream has ended.');
      found.push(value);
    }
    return found;
  };
  await upTo(changes, ({ depositId }) => depositId === before);
  const setRole = (role: 'moderator' | 'auditor') =>
    service.administration.person({ type: 'ChangeRole', person: 'auditor', role, client: null });
  await setRole('moderator');
  await until(async () => (await demoted.get('/console/api/overview')).status === 403);
  const hidden = await depositOf(frank, { title: 'Hidden', collection: 'papers', status: 'partial' });
  for await (const { depositId } of changes) t.not(depositId, hidden); // until the stream ends
  await setRole('auditor');
  await until(async () => (await demoted.get('/console/api/overview')).status === 200);
  const again = await open(demoted);
  await operator.post('/console/api/jobs', { act: 'recheck', ids: [before] });
  const isRetry = ({ depositId, type }: LiveChange) => depositId === before && type === 'ChecksRetried';
  await upTo(again, isRetry);
  t.deepEqual((await upTo(own, isRetry)).at(-1)?.actor, { kind: 'operator', name: 'operator' });
  abort.abort();
});

test('a depositor learns no names of persons from the summary of a deposit, nor by the filter by actors', async (t) => {
  const { service } = t.context;
  const gina = await service.register('gina', { collections: ['papers'], domain: 'gina.example' });
  const id = await depositOf(gina, { title: 'Sloe', collection: 'papers', status: 'rejected' });
  const operator = await ConsoleSession.begin(service, 'operator');
  await operator.post('/console/api/jobs', { act: 'recheck', ids: [id] });
  const textAt = async (session: ConsoleSession, path: string) => (await session.get(path)).text();
  const summary = `/console/api/deposits/${id}`;
  const list = (actor: string) => `/console/api/deposits?client=gina&actor=${actor}`;
  await until(async () => (await textAt(operator, list('operator'))).includes('Sloe'));
  const own = await ConsoleSession.ofClient(service.url, 'gina', 'secret');
  const seen = await textAt(own, summary);
  t.deepEqual([seen.includes('Sloe'), seen.includes('operator')], [true, false]);
  t.false((await textAt(own, list('operator'))).includes('Sloe'));
  t.true((await textAt(own, list('gina'))).includes('Sloe'));
});

/** Opens a stream of changes, and makes a partial deposit of dora that it shows. */
async function followDeposit({ service, dora }: ServiceWith<'dora'>, title: string) {
  const abort = new AbortController();
  const session = await ConsoleSession.ofClient(service.url, 'dora', 'secret');
  const changes = await openLive(service, session, abort);
  const id = await depositOf(dora, { title, collection: 'papers', status: 'partial' });
  const { log, failed } = service.service;
  const last = (await Array.fromAsync(log.readStream(`deposit-${id}`))).at(-1) as RecordedEvent;
  return { changes, abort, id, last, log, failed };
}

async function openLive(
  { url }: { readonly url: string },
  { cookie }: ConsoleSession,
  { signal }: AbortController,
): Promise<AsyncGenerator<LiveChange>> {
  const live = new URL('/console/api/live', url);
  return changesOf(await fetch(live, { headers: { Cookie: cookie }, signal }));
}

async function* changesOf({ body: stream }: Response): AsyncGenerator<LiveChange> {
  let rest = '';
  for await (const chunk of (stream ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const blocks = `${rest}${chunk}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, data] = /^event: change\ndata: (.*)$/.exec(block) ?? [];
      if (data !== undefined) yield JSON.parse(data) as LiveChange;
    }
  }
}
