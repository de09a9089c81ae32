import { randomUUID } from 'node:crypto';
import { commandLine } from '../../../src/modules/console/browser/texts/command-line.ts';
import type { DepositPage } from '../../../src/modules/console/protocol/deposit-list.ts';
import type { JobView } from '../../../src/modules/console/protocol/job.ts';
import type { ParkedWork } from '../../../src/modules/console/protocol/parked-work.ts';
import { depositOf } from '../../../testing/browser/console-deposits.ts';
import { ConsoleSession } from '../../../testing/browser/sign-in.ts';
import { until } from '../../../testing/processes/until.ts';
import { RunningService } from '../../../testing/service/running-service.ts';
import { testOfService } from '../../../testing/service/test-of-service.ts';

const test = testOfService({
  alice: { collections: ['software', 'papers'] },
  carol: { collections: ['papers'], domain: 'carol.example' },
});

async function pageAt(session: ConsoleSession, query: string): Promise<DepositPage> {
  const answer = await session.get(`/console/api/deposits?${query}`);
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as DepositPage;
}

test.serial(
  'filters combine, text search ignores case, and a depositor gets only own deposits',
  async (t) => {
    const { service, alice, carol } = t.context;
    const lamp = await depositOf(alice, { title: 'Red Lamp', filename: 'lamp-1.0.zip' });
    const chair = await depositOf(alice, { title: 'Red Chair', collection: 'papers', status: 'partial' });
    const rejected = await depositOf(carol, { title: 'Red Lamp', collection: 'papers', status: 'rejected' });
    const auditor = await ConsoleSession.begin(service, 'auditor');
    const ids = async (query: string, session = auditor) =>
      (await pageAt(session, query)).rows.map(({ depositId }) => depositId);
    t.deepEqual(await ids('q=red'), [rejected, chair, lamp]);
    t.deepEqual(await ids('q=red+lamp&client=alice'), [lamp]);
    t.deepEqual(await ids('q=LAMP-1.0'), [lamp]);
    t.deepEqual(await ids('status=rejected'), [rejected]);
    t.deepEqual(await ids('reason=URL_OUTSIDE_DOMAIN'), [rejected]);
    t.deepEqual(await ids('collection=papers&status=partial'), [chair]);
    t.deepEqual(await ids('actor=carol'), [rejected]);
    t.deepEqual(await ids('actor=alice&q=red&status=partial'), [chair]);
    t.deepEqual(await ids('actor=alice&collection=software'), [lamp]);
    t.deepEqual(await ids('actor=lamp'), []);
    const [done] = (await pageAt(auditor, 'q=lamp-1.0')).rows;
    t.deepEqual(await ids(`swhid=${done?.swhid}`), [lamp]);
    t.deepEqual(await ids(`until=${done?.createdAt}`), []);
    t.true((await ids('since=2026-01-01T00:00:00Z')).includes(lamp));
    const depositor = await ConsoleSession.begin(service, 'depositor', 'carol');
    t.deepEqual(await ids('q=red', depositor), [rejected]);
    for (const query of ['q=red&client=alice', 'client=alice', 'status=rejected&client=alice']) {
      const page = await pageAt(depositor, query);
      t.deepEqual(page.rows, [], `no deposit fits both ${query} and what they may see`);
      t.deepEqual(page.counts ?? {}, {}, query);
    }
    t.deepEqual(await ids('q=red&client=carol', depositor), [rejected]);
    t.deepEqual(await ids('q=MP'), [rejected, lamp], 'also a word of two characters');
    t.deepEqual(await ids(`q=${'lamp+'.repeat(20)}`), [rejected, lamp], 'a repeated word counts once');
    const words = Array.from({ length: 9 }, (_, index) => `word${index}`).join('+');
    const long = 'a'.repeat(257);
    for (const bad of [
      `q=${words}`,
      `q=${long}`,
      `reason=${long}`,
      'q=abc%00',
      'reason=abc%00',
      'q=lamp&client=%00',
      'q=lamp&collection=a%00b',
      'client=%00',
      `q=lamp&client=${long}`,
      'swhid=swh:1:cnt:1',
      'since=yesterday',
      'since=2026-01-01T00:00:00',
      'until=1',
      'until=9999-12-31T23:59-14:00',
      `since=${encodeURIComponent('0000-01-01T00:00+14:00')}`,
      'before=x',
    ])
      t.is((await auditor.get(`/console/api/deposits?${bad}`)).status, 400, bad);
  },
);

test.serial('pages continue by id or change, without gaps and repetitions', async (t) => {
  const { service, alice } = t.context;
  for (let number = 1; number <= 53; number += 1)
    await depositOf(alice, { title: `Numbered ${number}`, collection: 'papers', status: 'partial' });
  const auditor = await ConsoleSession.begin(service, 'auditor');
  for (const query of ['collection=papers', 'q=numbered', 'since=2026-01-01T00:00:00Z']) {
    const seen: number[] = [];
    let next: DepositPage['next'] = null;
    do {
      const page = await pageAt(
        auditor,
        `${query}${next === null ? '' : `&before=${encodeURIComponent(next)}`}`,
      );
      seen.push(...page.rows.map(({ depositId }) => depositId));
      next = page.next;
    } while (next !== null);
    t.true(seen.length >= 53, query);
    t.is(new Set(seen).size, seen.length, query);
  }
});

test.serial('the list is exported as CSV and NDJSON, and no field is a formula', async (t) => {
  const { service, alice } = t.context;
  await depositOf(alice, { title: '=HYPERLINK("x"),y', collection: 'papers', status: 'partial' });
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const csv = await auditor.get('/console/api/deposits/export/csv?q=hyperlink');
  t.is(csv.headers.get('Content-Disposition'), 'attachment; filename="deposits.csv"');
  const [head, row] = (await csv.text()).split('\r\n');
  t.regex(head ?? '', /^depositId,title,client/);
  t.regex(row ?? '', /^\d+,"'=HYPERLINK\(""x""\),y",alice,papers,partial/);
  const chosen = await auditor.get(
    '/console/api/deposits/export/csv?q=hyperlink&columns=swhid,title,authors,nothing',
  );
  t.regex(await chosen.text(), /^depositId,title,authors,swhid\r\n\d+,"'=HYPERLINK\(""x""\),y",/);
  const named = await auditor.get('/console/api/deposits/export/ndjson?q=hyperlink&columns=slug');
  t.deepEqual(Object.keys(JSON.parse(await named.text()) as object), ['depositId', 'slug']);
  await depositOf(alice, { title: 'Semicolon;=1+1; @x;y', collection: 'papers', status: 'partial' });
  const other = await (await auditor.get('/console/api/deposits/export/csv?q=semicolon')).text();
  t.regex(other, /\r\n\d+,"Semicolon;'=1\+1; '@x;y",alice/, 'for spreadsheets with this separator');
  const title = 'Guarded;"=1; ""@x;\uff1d1';
  await depositOf(alice, { title, collection: 'papers', status: 'partial' });
  const guarded = await (await auditor.get('/console/api/deposits/export/csv?q=guarded')).text();
  t.regex(guarded, /\r\n\d+,"Guarded;""'=1; """"'@x;'\uff1d1",alice/, 'after quotes, and wide signs');
  const ndjson = await (await auditor.get('/console/api/deposits/export/ndjson?collection=papers')).text();
  const lines = ndjson.trim().split('\n');
  t.true(lines.length > 50);
  for (const line of lines) t.is((JSON.parse(line) as { collection: string }).collection, 'papers');
});

test.serial('a job processes the counted deposits, names the person, and lists refusals', async (t) => {
  const { service, carol } = t.context;
  const rejected = await depositOf(carol, { title: 'Blue vase', collection: 'papers', status: 'rejected' });
  const open = await depositOf(carol, { title: 'Blue bowl', collection: 'papers', status: 'partial' });
  await service.administration.client({ type: 'SetDomain', client: 'carol', domain: null });
  const operator = await ConsoleSession.begin(service, 'operator');
  const counted = (await (await operator.get('/console/api/deposits/count?q=blue')).json()) as {
    count: number;
  };
  t.deepEqual(counted, { count: 2 });
  const start = { act: 'recheck', filter: { q: 'blue' } };
  t.is((await operator.post('/console/api/jobs', { ...start, count: 3 })).status, 409);
  const answer = await operator.post('/console/api/jobs', { ...start, count: 2 });
  t.is(answer.status, 202);
  const { id } = (await answer.json()) as JobView;
  const read = async () => (await (await operator.get(`/console/api/jobs/${id}`)).json()) as JobView;
  await until(async () => (await read()).state === 'done');
  t.like(await read(), { total: 2, done: 1, refused: 1, by: 'operator', refusals: [{ depositId: open }] });
  await carol.waitFor(`/1/papers/${rejected}/status/`, 'done');
  t.is(
    commandLine('recheck', { ids: [rejected, open] }),
    `npx deposit-service retry ${rejected} ${open} --recheck`,
  );
});

test.serial(
  'parked events are listed; operators retry them, and skip them with a reason after a fresh sign-in',
  async (t) => {
    const { service } = t.context;
    const parked = { reactor: 'notifier', stream: 'deposit-1', revision: 0, reason: 'It always fails.' };
    const [first, second] = [randomUUID(), randomUUID()];
    for (const eventId of [first, second])
      await service.administration.parking({ type: 'ParkEvent', eventId, ...parked });
    const auditor = await ConsoleSession.begin(service, 'auditor');
    const read = async () => ((await (await auditor.get('/console/api/work')).json()) as ParkedWork).parked;
    t.like((await read())[0], { ...parked, eventId: first, depositId: 1, times: 1, object: null });
    const decide = (session: ConsoleSession, what: string, body: object) =>
      session.post(`/console/api/work/${what}`, { reactor: 'notifier', ...body });
    t.is((await decide(auditor, 'retry', { eventIds: [first] })).status, 403);
    const operator = await ConsoleSession.begin(service, 'operator');
    t.deepEqual(await (await decide(operator, 'retry', { eventIds: [first] })).json(), { retried: 1 });
    t.is((await decide(operator, 'retry', { eventIds: [first] })).status, 409);
    for (const reason of [' ', 'x'.repeat(1001)])
      t.is((await decide(operator, 'skip', { eventId: second, reason })).status, 400);
    // The second signed in while the clock was ahead.
    for (const age of [11 * 60_000, -11 * 60_000]) {
      const old = await operator.at(service.folder, { signedInAt: Date.now() - age });
      const refused = await decide(old, 'skip', { eventId: second, reason: 'No use.' });
      t.is(refused.status, 403);
      t.regex(await refused.text(), /SIGN_IN_AGAIN/);
    }
    t.is((await decide(operator, 'skip', { eventId: second, reason: 'No use.' })).status, 204);
    t.false((await read()).some(({ eventId }) => eventId === second));
    const events = await Array.fromAsync(service.service.log.readStream('parked-notifier'));
    const skip = events.find(({ type }) => type === 'ParkedSkipped');
    t.like(skip?.data, { reason: 'No use.' });
    t.deepEqual(skip?.metadata['actor'], { kind: 'person', name: 'operator' });
  },
);

test.serial('a skip ends the deposit that waits for the event', async (t) => {
  await using service = await RunningService.start({ roles: ['http'] }); // so that no check begins
  const alice = await service.register('alice', { collections: ['software'] });
  const id = await depositOf(alice, { status: 'deposited' });
  const events = await Array.fromAsync(service.service.log.readStream(`deposit-${id}`));
  const completed = events.find(({ type }) => type === 'DepositCompleted');
  const { id: eventId = '', stream = '', revision = 0 } = completed ?? {};
  const parked = { reactor: 'checker', eventId, stream, revision, reason: 'The reader dies of it.' };
  await service.administration.parking({ type: 'ParkEvent', ...parked });
  const operator = await ConsoleSession.begin(service, 'operator');
  const decision = { reactor: 'checker', eventId, reason: 'No use.' };
  t.is((await operator.post('/console/api/work/skip', decision)).status, 204);
  const status = await alice.waitFor(`/1/software/${id}/status/`, 'rejected');
  t.true(status.includes('The checks were skipped by the operator: No use.'));
  t.is((await operator.post('/console/api/work/skip', decision)).status, 409, 'it is no longer parked');
});

test('a request that no page of the console sends is refused without an error of the service', async (t) => {
  const { service } = t.context;
  const operator = await ConsoleSession.begin(service, 'operator');
  for (const path of ['/console/enter', '/console/api/jobs', '/console/api/work/retry'])
    for (const body of [null, 1, 'text']) t.is((await operator.post(path, body)).status, 400, path);
  for (const format of ['constructor', '__proto__', 'toString'])
    t.is((await operator.get(`/console/api/deposits/export/${format}`)).status, 404, format);
});

test.serial('the job of a person who was disabled stops', async (t) => {
  const { service } = t.context;
  const operator = await ConsoleSession.begin(service, 'operator');
  const ids = Array.from({ length: 9000 }, (_, index) => 100_000 + index);
  const answer = await operator.post('/console/api/jobs', { act: 'recheck', ids });
  const { id } = (await answer.json()) as JobView;
  await service.administration.person({ type: 'DisablePerson', person: 'operator' });
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const jobNow = async () => (await (await auditor.get(`/console/api/jobs/${id}`)).json()) as JobView;
  await until(async () => (await jobNow()).endedAt !== null);
  const { state, refused } = await jobNow();
  t.is(state, 'stopped');
  t.true(refused < ids.length);
  await service.administration.person({ type: 'EnablePerson', person: 'operator' });
});
