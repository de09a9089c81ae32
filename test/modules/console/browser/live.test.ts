import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { depositOf } from '../../../../testing/browser/console-deposits.ts';
import { consoleTests } from '../../../../testing/browser/console-tests.ts';
import { appendFailedDeposit } from '../../../../testing/browser/picture-deposits.ts';
import { linkFor } from '../../../../testing/browser/sign-in.ts';
import { entryHeaders, helloEntry, partial } from '../../../../testing/http/deposit-bodies.ts';
import { until } from '../../../../testing/processes/until.ts';

const test = consoleTests({ alice: { collections: ['software'] } });

test('an event stream that was refused, broken off or never answered comes back, with what was missed', async (t, open) => {
  const { alice } = t.context;
  const tab = await open({ role: 'operator' });
  const { page } = tab;
  const refusals = [
    () => ({ status: 503, body: 'The service is starting.' }),
    () => ({ status: 429, json: { error: { code: 'TOO_MANY_STREAMS', message: 'Too many.' } } }),
    () => ({ status: 200, contentType: 'text/event-stream', body: ': connected\n\n' }), // and ends
  ];
  let asked = 0;
  await page.route('/console/api/live', async (route) => {
    asked += 1;
    const refusal = refusals[asked - 1];
    if (refusal) await route.fulfill(refusal());
    else if (asked === 4) await route.abort('connectionreset');
    else if (asked > 5) await route.continue(); // the fifth is lost without an answer
  });
  await page.goto('/console/deposits?q=medlar');
  await page.getByText('No deposit matches.').waitFor();
  await page.getByRole('button', { name: /^(?:reconnecting|stale since)/ }).waitFor();
  await depositOf(alice, { title: 'Medlar' });
  await until(async () => asked === 6);
  await page.getByRole('button', { name: 'live' }).waitFor();
  await page.getByRole('row', { name: /Medlar/ }).waitFor();
  tab.forgive(/status of (?:503|429)|ERR_CONNECTION_RESET/);
  t.pass();
});

test('a page says that the service was updated, and stays usable until it is loaded again', async (t, open) => {
  const { alice } = t.context;
  await depositOf(alice, { title: 'Mirabelle' });
  const { page } = await open({ role: 'operator' });
  await page.getByRole('button', { name: 'live' }).waitFor();
  t.is(await page.getByText('The service was updated').count(), 0);
  await page.route('/console/api/live', async (route) => {
    const headers = { 'X-Console-Release': '/console/assets/0123456789abcdef/' };
    await route.fulfill({ status: 200, contentType: 'text/event-stream', headers, body: ': connected\n\n' });
  });
  await page.getByRole('button', { name: 'live' }).click();
  await page.getByRole('button', { name: 'paused' }).click();
  await page.getByRole('status').getByText('The service was updated').waitFor();
  await page.getByRole('link', { name: 'Deposits', exact: true }).last().click();
  await page.getByRole('row', { name: /Mirabelle/ }).waitFor();
  await page.unroute('/console/api/live');
  await page.getByRole('link', { name: 'Skip to the content' }).press('Enter');
  t.is(new URL(page.url()).hash, '#content');
  await page.getByRole('link', { name: 'load this page again' }).click();
  await page.getByRole('row', { name: /Mirabelle/ }).waitFor();
  await page.getByRole('button', { name: 'live' }).waitFor();
  t.is(await page.getByText('The service was updated').count(), 0);
});

test('a page neither reads nor acts in the session of another person who signed in elsewhere', async (t, open) => {
  const { alice, service } = t.context;
  const id = await depositOf(alice, { title: 'Loquat' });
  const tab = await open({ role: 'operator' });
  const { page } = tab;
  await page.goto('/console/deposits');
  await page.getByRole('checkbox', { name: `Select deposit ${id}` }).check();
  await page.getByRole('button', { name: 'live' }).waitFor();
  const other = await page.context().newPage();
  await other.goto(await linkFor(service, 'operator', undefined, 'olaf'));
  await other.getByRole('button', { name: 'olaf operator' }).waitFor();
  await page.getByRole('button', { name: 'Check again…', exact: true }).click();
  await page.getByRole('button', { name: 'Check 1 deposit again' }).click();
  await page.getByRole('dialog').getByRole('alert').getByText('olaf has signed in').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  const events = await Array.fromAsync(service.service.log.readStream(`deposit-${id}`));
  t.deepEqual(
    events.filter(({ metadata }) => JSON.stringify(metadata).includes('olaf')),
    [],
  );
  t.true(await page.getByRole('checkbox', { name: `Select deposit ${id}` }).isChecked(), 'the page stays');
  for (const format of ['csv', 'ndjson'])
    t.is(await refusalOf(page, `a[href*="/export/${format}?"]`, 'href'), 409, format);
  t.is(await refusalOf(page, 'button[formaction*=end-sessions]', 'formaction'), 409);
  await page.getByRole('status').getByText('Another person or client has signed in').waitFor();
  await page.getByRole('link', { name: 'load this page again' }).click();
  await page.getByRole('button', { name: 'olaf operator' }).waitFor();
  await page.getByRole('row', { name: /Loquat/ }).waitFor();
  await page.getByRole('button', { name: 'live' }).waitFor();
  t.is(await page.getByText('has signed in').count(), 0);
  tab.forgive(/status of 409/);
});

test('a proof and a download of a page are refused in the session of another person who signed in elsewhere', async (t, open) => {
  const { alice, service } = t.context;
  const id = await depositOf(alice, { title: 'Whitebeam', status: 'done' });
  const tab = await open({ role: 'operator' });
  const { page } = tab;
  await page.goto(`/console/deposits/${id}?tab=files`);
  await page.getByRole('link', { name: 'Download as tar' }).waitFor();
  const other = await page.context().newPage();
  await other.goto(await linkFor(service, 'operator', undefined, 'olaf'));
  await other.getByRole('button', { name: 'olaf operator' }).waitFor();
  t.is(await refusalOf(page, 'a[href*="/bytes?"]', 'href'), 409);
  await page.getByRole('link', { name: 'Proof' }).click();
  await page.getByRole('button', { name: `Prove deposit ${id}` }).click();
  await page.getByText('The proof was not finished.').waitFor();
  await page.getByText(/^The service answered 409 for /).waitFor();
  tab.forgive(/status of 409/);
});

/** Resolves to the status of the answer at the address in an attribute, in the session of the browser. */
async function refusalOf(page: Page, selector: string, attribute: string): Promise<number> {
  const address = await page.locator(selector).getAttribute(attribute);
  const { origin } = new URL(page.url());
  const isForm = attribute === 'formaction';
  const answer = await page.request.fetch(address ?? '', {
    method: isForm ? 'POST' : 'GET',
    ...(isForm && { form: {}, headers: { Origin: origin } }),
  });
  return answer.status();
}

test('data that could not be loaded are loaded once the service answers again', async (t, open) => {
  const { alice } = t.context;
  const id = await depositOf(alice, { title: 'Quince' });
  const tab = await open({ role: 'operator' });
  const { page } = tab;
  let isDown = true;
  for (const path of ['**/console/api/live', '**/manifest', '**/events?from=0', '**/listings'])
    await page.route(path, (route) => (isDown ? route.abort('connectionrefused') : route.continue()));
  for (const [address, seen] of [
    [`/console/deposits/${id}?tab=files`, page.getByRole('region', { name: 'Directory' })],
    [`/console/deposits/${id}`, page.getByRole('region', { name: 'Events' })],
  ] as const) {
    isDown = true;
    await page.goto(address);
    await page.getByRole('alert').getByText('The service does not answer.').waitFor();
    isDown = false;
    await seen.waitFor();
    t.is(await page.getByRole('alert').count(), 0);
  }
  tab.forgive(/ERR_CONNECTION_REFUSED/);
});

test('data that could not be loaded are loaded again while the event stream stays open', async (t, open) => {
  const { alice } = t.context;
  await depositOf(alice, { title: 'Cornel' });
  const tab = await open({ role: 'operator' });
  const { page } = tab;
  await page.getByRole('button', { name: 'live' }).waitFor();
  let answer: 'refusal' | 'none' | 'rows' = 'refusal';
  await page.route('**/console/api/deposits?*', async (route) => {
    if (answer === 'refusal') await route.fulfill({ status: 503 });
    else if (answer === 'none') await route.abort('connectionrefused');
    else await route.continue();
  });
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Deposits' }).click();
  await page.getByRole('alert').getByText('The service cannot answer at the moment').waitFor();
  answer = 'none';
  await page.getByRole('alert').getByText('The service does not answer.').waitFor();
  answer = 'rows';
  await page.getByRole('row', { name: /Cornel/ }).waitFor();
  t.is(await page.getByRole('alert').count(), 0);
  tab.forgive(/status of 503|ERR_CONNECTION_REFUSED/);
});

test('the script of a page that could not be fetched is fetched again', async (t, open) => {
  const id = await depositOf(t.context.alice, { title: 'Service berry' });
  const tab = await open({ role: 'operator' });
  const { page } = tab;
  let isDown = true;
  await page.route('**/deposit/*.ts', (route) =>
    isDown ? route.abort('connectionrefused') : route.continue(),
  );
  await page
    .getByRole('region', { name: 'Latest changes' })
    .getByRole('link', { name: String(id) })
    .click();
  await page.getByRole('alert').getByText('The page could not be loaded').waitFor();
  isDown = false;
  await page.getByRole('region', { name: 'Events' }).waitFor();
  tab.forgive(/ERR_CONNECTION_REFUSED/);
  t.pass();
});

test('a job that could not be stopped says why', async (t, open) => {
  const { alice, service } = t.context;
  const id = 800_000;
  await appendFailedDeposit(service, id, await depositOf(alice, { title: 'Service tree' }));
  const tab = await open({ role: 'operator' });
  const { page } = tab;
  const json = { id: 'x', state: 'running', total: 1, done: 0, refused: 0, refusals: [], problem: null };
  await page.route('**/console/api/jobs', (route) => route.fulfill({ status: 202, json }));
  await page.route('**/console/api/jobs/x', (route) => route.fulfill({ json }));
  await page.route('**/console/api/jobs/x/stop', (route) => route.fulfill({ status: 503 }));
  await page.goto(`/console/deposits/${id}`);
  await page.getByRole('button', { name: 'Retry…' }).click();
  await page.getByRole('button', { name: 'Retry 1 deposit' }).click();
  await page.getByRole('button', { name: 'Stop' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The service cannot answer at the moment').waitFor({ timeout: 10_000 });
  tab.forgive(/status of 503/);
  t.pass();
});

test('a job says that the service does not answer, and goes on once it does', async (t, open) => {
  const { alice, service } = t.context;
  const id = 810_000;
  await appendFailedDeposit(service, id, await depositOf(alice, { title: 'Wayfaring tree' }));
  const tab = await open({ role: 'operator' });
  const { page } = tab;
  await page.route('**/console/api/jobs/*', (route) => route.abort('connectionrefused'));
  await page.goto(`/console/deposits/${id}`);
  await page.getByRole('button', { name: 'Retry…' }).click();
  await page.getByRole('button', { name: 'Retry 1 deposit' }).click();
  const problem = page.getByRole('dialog').getByRole('alert');
  await problem.getByText('The service does not answer.').waitFor({ timeout: 10_000 });
  await page.unroute('**/console/api/jobs/*');
  await page.getByText('1 of 1 started again').waitFor();
  t.is(await problem.count(), 0);
  tab.forgive(/ERR_CONNECTION_REFUSED/);
});

test('a page that fails while it is rendered says so in a sentence, and others can be opened', async (t, open) => {
  const tab = await open({ role: 'operator' });
  const { page } = tab;
  await page.route('/console/api/work', (route) => route.fulfill({ json: { parked: [null] } }));
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await pages.getByRole('link', { name: 'Work' }).click();
  const sentence = /^The page failed while it was shown \(.+\): load it again, and report this sentence/;
  await page.getByRole('alert').filter({ hasText: sentence }).waitFor({ timeout: 10_000 });
  t.is(tab.faults.length, 1);
  t.regex(tab.faults[0] ?? '', /^not caught: /);
  tab.forgive(/^not caught: /);
  await pages.getByRole('link', { name: 'Deposits' }).click();
  await page.getByLabel('Title, author').waitFor();
  t.is(await page.getByRole('alert').count(), 0);
  await page.goBack();
  await page.getByRole('alert').waitFor();
  t.deepEqual(await tab.accessibilityFaults(), []);
  tab.forgive(/^not caught: /);
  await page.unroute('/console/api/work');
  await page.getByRole('link', { name: 'load it again' }).click();
  await page.getByText('No event is parked.').waitFor();
});

test('a double click on a slow network does an act once', async (t, open) => {
  const { alice, service } = t.context;
  const id = 900_000;
  await appendFailedDeposit(service, id, await depositOf(alice, { title: 'Rowan' }));
  const parked = { reactor: 'loader', stream: `deposit-${id}`, revision: 0, reason: 'It fails.' };
  await service.administration.parking({ type: 'ParkEvent', eventId: randomUUID(), ...parked });
  const { page } = await open({ role: 'operator' });
  const posted: string[] = [];
  await page.route('**/console/api/{jobs,work/retry,work/skip}', async (route) => {
    posted.push(new URL(route.request().url()).pathname);
    await setTimeout(1000);
    await route.continue();
  });
  await page.goto('/console/work');
  await page.getByRole('button', { name: 'Retry' }).dblclick();
  await page.getByText('No event is parked.').waitFor();
  t.is(await page.getByRole('alert').count(), 0);
  await page.goto(`/console/deposits/${id}`);
  await page.getByRole('button', { name: 'Retry…' }).click();
  await page.getByRole('button', { name: 'Retry 1 deposit' }).dblclick();
  await page.getByText('1 of 1 started again').waitFor();
  t.deepEqual(posted, ['/console/api/work/retry', '/console/api/jobs']);
});

test('after a failed retry of several events the list shows what is still parked', async (t, open) => {
  const { service } = t.context;
  for (const reactor of ['checker', 'loader']) {
    const parked = { reactor, stream: 'deposit-900001', revision: 0, reason: 'It fails.' };
    await service.administration.parking({ type: 'ParkEvent', eventId: randomUUID(), ...parked });
  }
  const tab = await open({ role: 'operator' });
  const { page } = tab;
  await page.route('**/console/api/work/retry', (route) =>
    route.request().postDataJSON().reactor === 'loader' ? route.fulfill({ status: 503 }) : route.continue(),
  );
  await page.goto('/console/work');
  await page.getByRole('button', { name: 'Retry all 2' }).click();
  await page.getByRole('alert').getByText('The service cannot answer at the moment').waitFor();
  await page.getByRole('cell', { name: 'checker' }).waitFor({ state: 'detached', timeout: 10_000 });
  await page.getByRole('cell', { name: 'loader' }).waitFor();
  await page.unroute('**/console/api/work/retry');
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await page.getByText('No event is parked.').waitFor();
  tab.forgive(/status of 503/);
  t.pass();
});

test('more parked events than fit into one request are retried together', async (t, open) => {
  const { page } = await open({ role: 'operator' });
  const facts = { stream: 'deposit-1', depositId: 1, revision: 0, object: null, times: 1 };
  const one = { ...facts, reactor: 'notifier', reason: 'It is down.', since: '2026-03-01T10:00:00.000Z' };
  let parked = Array.from({ length: 1700 }, () => ({ ...one, eventId: randomUUID() }));
  const statuses: number[] = [];
  await page.route('**/console/api/work', (route) => route.fulfill({ json: { parked } }));
  await page.route('**/console/api/work/retry', async (route) => {
    statuses.push((await route.fetch()).status());
    const { eventIds } = route.request().postDataJSON() as { readonly eventIds: readonly string[] };
    parked = parked.filter(({ eventId }) => !eventIds.includes(eventId));
    await route.fulfill({ json: { retried: eventIds.length } });
  });
  await page.goto('/console/work');
  await page.getByText('Retry all 1700').click();
  await page.getByText('No event is parked.').waitFor();
  t.deepEqual(statuses, [409, 409], 'each was read, and none of its events is parked in this log');
});

test('a change of a deposit whose Slug has separators of lines is shown when it happens', async (t, open) => {
  const { alice } = t.context;
  const { page } = await open({ role: 'operator' });
  await page.goto('/console/deposits?client=alice');
  await page.getByRole('button', { name: 'live' }).waitFor();
  const headers = { ...entryHeaders(), ...partial, Slug: 'a%E2%80%A8b%E2%80%A9c' };
  t.is((await alice.post('/1/software/', helloEntry, headers)).status, 201);
  await page.getByRole('button', { name: 'Show 1 new' }).waitFor({ timeout: 10_000 });
});

test('a link that was followed after the end of a session leads to its page once an operator has signed in', async (t, open) => {
  const { alice, service } = t.context;
  const id = await depositOf(alice, { title: 'Pear' });
  const { page } = await open();
  await page.goto(`/console/deposits/${id}?at=1`);
  await page.waitForURL(/\/console\/sign-in\?to=/);
  const other = await page.context().newPage(); // as a terminal opens the link
  await other.goto(await linkFor(service, 'operator'));
  await other.waitForURL(new RegExp(`/console/deposits/${id}\\?at=1$`), { timeout: 10_000 });
  await other.getByRole('heading', { name: /^Event #1/ }).waitFor();
  await other.goto(await linkFor(service, 'operator'));
  await other.waitForURL(/\/console\/$/);
  t.pass();
});

test('the event stream leads to the sign-in once its session was ended in another tab', async (t, open) => {
  const tab = await open({ role: 'auditor' });
  await tab.page.getByRole('button', { name: 'live' }).waitFor();
  const other = await tab.page.context().newPage();
  await other.goto('/console/deposits');
  await other.getByRole('button', { name: 'auditor auditor' }).click();
  await other.getByRole('button', { name: 'Sign out' }).click();
  await other.waitForURL(/\/console\/sign-in$/);
  await tab.page.waitForURL(/\/console\/sign-in\?to=%2Fconsole%2F$/);
  tab.forgive(/status of 401/);
  t.pass();
});
