import { randomUUID } from 'node:crypto';
import { visibleParts } from '../../../../src/modules/console/browser/texts/visible.ts';
import { depositOf, HOSTILE_TEXTS } from '../../../../testing/browser/console-deposits.ts';
import { consoleTests } from '../../../../testing/browser/console-tests.ts';
import { withoutFetchMetadata } from '../../../../testing/browser/without-fetch-metadata.ts';

const PARKED = { reactor: 'notifier', stream: 'deposit-1', revision: 0, reason: 'It always fails.' };

/** Returns a text as pages show it: with the code points of hidden characters. */
function shownText(text: string): string {
  return visibleParts(text)
    .map((part) => part.text)
    .join('');
}

const test = consoleTests({
  alice: { collections: ['software'] },
  carol: { collections: ['papers'], domain: 'carol.example' },
});

test('an operator finds a rejected deposit, retries its checks, and sees it done', async (t, open) => {
  const { service, carol } = t.context;
  const id = await depositOf(carol, { title: 'Lamp', collection: 'papers', status: 'rejected' });
  const { page } = await open({ role: 'operator' });
  await page
    .getByRole('region', { name: 'Needs you' })
    .getByRole('link', { name: /rejected/ })
    .click();
  t.regex(page.url(), /deposits\?status=rejected&since=[\d-]+$/);
  const row = page.getByRole('row', { name: /Lamp/ });
  await row.getByText('URL_OUTSIDE_DOMAIN').waitFor();
  await service.administration.client({ type: 'SetDomain', client: 'carol', domain: null });
  await row.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Check again…', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(`npx deposit-service retry ${id} --recheck`).waitFor();
  await dialog.getByRole('button', { name: 'Check 1 deposit again' }).click();
  await dialog.getByText('1 of 1 started again').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await row.getByText('done').waitFor(); // by the event stream: nothing is loaded again
  const events = await Array.fromAsync(service.service.log.readStream(`deposit-${id}`));
  const retried = events.find(({ type }) => type === 'ChecksRetried');
  t.deepEqual(retried?.metadata['actor'], { kind: 'person', name: 'operator' });
});

test('an operator does the same by keyboard for all matching deposits', async (t, open) => {
  const { service, carol } = t.context;
  await service.administration.client({ type: 'SetDomain', client: 'carol', domain: 'carol.example' });
  for (const title of ['Red chair', 'Blue chair'])
    await depositOf(carol, { title, collection: 'papers', status: 'rejected' });
  await service.administration.client({ type: 'SetDomain', client: 'carol', domain: null });
  const { page } = await open({ role: 'operator' });
  await page.getByRole('region', { name: 'Needs you' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('d');
  await page.getByRole('table').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('chair');
  await page.keyboard.press('Enter');
  await page.waitForURL(/search\?q=chair/);
  await page.getByText('Text “chair”').waitFor();
  const list = page.getByRole('link', { name: 'Show them in the list' });
  while (!(await list.and(page.locator(':focus')).count())) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(/deposits\?q=chair/);
  await page.getByRole('button', { name: 'Check all that match…' }).waitFor();
  for (const title of ['Red chair', 'Blue chair'])
    await page.getByRole('row', { name: new RegExp(title) }).waitFor();
  t.is(await page.getByRole('row').count(), 3);
  await page.getByRole('main').focus();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.locator('tr[aria-selected=true]').waitFor();
  const act = page.getByRole('button', { name: 'Check all that match…' });
  while (!(await act.and(page.locator(':focus')).count())) await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  const start = page.getByRole('button', { name: 'Check 2 deposits again' });
  await start.waitFor();
  while (!(await start.and(page.locator(':focus')).count())) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('2 of 2 started again').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('tbody .status-done').nth(1).waitFor();
});

test('a page that missed changes while its stream was disconnected reads them after it reconnects', async (t, open) => {
  const { alice } = t.context;
  const { page } = await open({ role: 'operator' });
  await page.goto('/console/deposits?q=kettle');
  await page.getByText('No deposit matches.').waitFor();
  await page.getByRole('button', { name: 'live' }).click();
  await page.getByRole('button', { name: 'paused' }).waitFor();
  await depositOf(alice, { title: 'Kettle' });
  await page.getByRole('button', { name: 'paused' }).click();
  await page.getByRole('row', { name: /Kettle/ }).waitFor();
  t.is(await page.getByText('No deposit matches.').count(), 0);
});

test('a choice of the person in an open list prolongs the session; what the page reads by itself does not', async (t, open) => {
  const { alice } = t.context;
  await depositOf(alice, { title: 'Sorb', status: 'partial' });
  const { page } = await open({ role: 'operator' });
  await page.goto('/console/deposits');
  await page.getByRole('button', { name: 'live' }).waitFor();
  const isBackground: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/console/api/deposits?status=partial'))
      isBackground.push(request.headers()['x-console-background']);
  });
  await page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: 'partial' }).click();
  await page.getByRole('row', { name: /Sorb/ }).waitFor();
  await depositOf(alice, { title: 'Rowan', status: 'partial' });
  await page.getByRole('button', { name: '1 new' }).click();
  await page.getByRole('row', { name: /Rowan/ }).waitFor();
  t.deepEqual(isBackground, [undefined, '1']);
});

test('texts of clients are rendered as text, never as markup or script', async (t, open) => {
  const { alice } = t.context;
  const tab = await open({ role: 'operator' });
  for (const title of HOSTILE_TEXTS)
    await depositOf(alice, {
      title,
      filename: `${title.replaceAll(/[^\x20-\x7e]|["\\/]/g, '')}.zip`,
      status: 'partial',
    });
  await tab.page
    .getByText(HOSTILE_TEXTS[0] ?? '')
    .first()
    .waitFor(); // in the overview, while it happens
  await tab.page.goto('/console/deposits?client=alice');
  for (const title of HOSTILE_TEXTS)
    await tab.page.getByRole('cell', { name: shownText(title), exact: true }).waitFor();
  for (const text of HOSTILE_TEXTS.slice(0, 5))
    for (const name of ['q', 'status', 'client', 'origin', 'reason']) {
      await tab.page.goto(`/console/deposits?${name}=${encodeURIComponent(text)}`);
      await tab.page.getByRole('heading', { name: 'Deposits' }).waitFor();
    }
  t.pass(); // the tab has no other fault, which the harness asserts
});

for (const scheme of ['light', 'dark'] as const)
  for (const width of [1280, 360])
    test(`axe finds no violation in ${scheme} at ${width} px`, async (t, open) => {
      const { alice, service } = t.context;
      await depositOf(alice, { title: 'Seen by axe' });
      const tab = await open({ role: 'operator', scheme, width });
      const { page } = tab;
      await page.getByRole('region', { name: 'Needs you' }).waitFor();
      t.deepEqual(await tab.accessibilityFaults(), [], 'overview');
      await page.goto('/console/deposits');
      await page.getByRole('table').waitFor();
      t.deepEqual(await tab.accessibilityFaults(), [], 'deposits');
      await page
        .getByRole('checkbox', { name: /^Select deposit/ })
        .first()
        .check();
      await page.getByRole('button', { name: 'Check again…', exact: true }).click();
      await page.getByRole('dialog').waitFor();
      t.deepEqual(await tab.accessibilityFaults(), [], 'dialog');
      const overflow = await tab.overflow();
      t.true(overflow <= 0, `${overflow} px are beyond the edge`);
      await service.administration.parking({ type: 'ParkEvent', eventId: randomUUID(), ...PARKED });
      await page.goto('/console/work');
      await page.getByRole('table').waitFor();
      t.deepEqual(await tab.accessibilityFaults(), [], 'work');
      await page.getByRole('button', { name: 'Skip…' }).first().click();
      await page.getByRole('textbox', { name: 'Reason' }).fill('It was handled by hand.');
      t.deepEqual(await tab.accessibilityFaults(), [], 'skip');
      await page.getByRole('button', { name: 'Skip the event' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const other = await open({ scheme, width });
      t.deepEqual(await other.accessibilityFaults(), [], 'sign-in');
    });

test('a filter that is refused shows no rows of the filter before', async (t, open) => {
  const { alice } = t.context;
  await depositOf(alice, { title: 'Loquat', status: 'partial' });
  const { page, faults } = await open({ role: 'operator' });
  await page.goto('/console/deposits?q=loquat');
  await page.getByRole('row', { name: /Loquat/ }).waitFor();
  await page.locator('#filter-text').fill('a b c d e f g h i');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('at most 8 words').waitFor();
  t.is(await page.getByRole('row', { name: /Loquat/ }).count(), 0);
  faults.splice(0, 1, ...faults.slice(0, 1).filter((fault) => !fault.includes('400'))); // browsers report refusals
});

test('columns are chosen in the address, and an event is found by its id', async (t, open) => {
  const { service, alice } = t.context;
  const id = await depositOf(alice, { title: 'Wide table' });
  const { page } = await open({ role: 'operator' });
  await page.goto('/console/deposits?q=wide');
  await page.getByRole('columnheader', { name: 'SWHID' }).waitFor();
  await page.getByText('Columns', { exact: true }).click();
  await page.getByRole('checkbox', { name: 'Origin' }).check();
  await page.getByRole('checkbox', { name: 'SWHID' }).uncheck();
  await page.getByRole('columnheader', { name: 'Origin' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('checkbox', { name: 'Origin' }).waitFor({ state: 'hidden', timeout: 10_000 });
  t.is(new URL(page.url()).searchParams.get('columns'), 'id,title,owner,status,changed,origin');
  t.is(await page.getByRole('columnheader', { name: 'SWHID' }).count(), 0);
  const link = await page.getByRole('link', { name: 'CSV' }).getAttribute('href');
  t.regex(
    link ?? '',
    /\?q=wide&columns=id%2Ctitle%2Cowner%2Cstatus%2Cchanged%2Corigin&viewer=person%3Aoperator$/,
  );
  const events = await Array.fromAsync(service.service.log.readStream(`deposit-${id}`));
  await page.goto(`/console/search?q=${events[1]?.id}`);
  await page.waitForURL(new RegExp(`/console/deposits/${id}\\?at=1$`));
});

test('a change that arrives before the answer with the rows is shown in its row', async (t, open) => {
  const { alice } = t.context;
  const id = await depositOf(alice, { title: 'Damson', status: 'partial' });
  const { page } = await open({ role: 'operator' });
  await page.goto('/console/deposits?q=damson');
  await page.getByRole('button', { name: 'live' }).waitFor();
  await page.getByRole('row', { name: /Damson/ }).waitFor();
  await page.route(/api\/deposits\?.*status=partial/, async (route) => {
    const response = await route.fetch();
    const edit = `/1/software/${id}/metadata/`;
    t.is((await alice.send('POST', edit, { headers: { 'In-Progress': 'false' } })).status, 200);
    await alice.waitFor(`/1/software/${id}/status/`, 'done');
    await depositOf(alice, { title: 'Greengage', status: 'partial' });
    await page.getByRole('button', { name: /^Show \d+ new$/ }).waitFor(); // after the changes of the other deposit
    await route.fulfill({ response });
  });
  await page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: 'partial' }).click();
  await page
    .getByRole('row', { name: /Damson/ })
    .getByText('done')
    .waitFor({ timeout: 10_000 });
  t.pass();
});

test('pages say why a list is empty, in which zone a time is, and offer only what works for the viewer', async (t, open) => {
  const { alice } = t.context;
  const id = await depositOf(alice, { title: 'Walnut' });
  const { page } = await open({ role: 'operator' });
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Deposits' }).click();
  await page.locator('main:focus').waitFor();
  await page.getByRole('row', { name: /Walnut.* \d\d:\d\d:\d\d UTC / }).waitFor();
  await page.goto('/console/deposits?before=1');
  await page.getByText('There are no older deposits.').waitFor();
  await page.goto('/console/deposits?before=1&status=done');
  await page.getByText('There are no older deposits that match.').waitFor();
  await page.getByRole('link', { name: 'Newest deposits' }).click();
  await page.getByRole('row', { name: /Walnut/ }).waitFor();
  await page.goto('/console/search?q=nothing-at-all');
  const found = 'titles, authors, names of archives, slugs, external identifiers and origins';
  await page.getByText(`Words are found in ${found}.`).waitFor();
  await page.goto(`/console/deposits/${id}`);
  await page.getByText(`npx deposit-service history ${id}`).waitFor();
  t.is(await page.getByRole('link', { name: 'Receipt' }).count(), 0, 'it asks for the password of a client');
  const { page: own } = await open({ role: 'depositor', client: 'alice' });
  await own.goto(`/console/deposits/${id}`);
  await own.getByRole('link', { name: 'Receipt' }).waitFor();
  t.is(await own.getByText('npx').count(), 0);
});

test('a depositor signs in with the password of the client, and sees only its deposits', async (t, open) => {
  const { alice, carol } = t.context;
  const own = await depositOf(alice, { title: 'Own brush' });
  await depositOf(carol, { title: 'Foreign brush', collection: 'papers', status: 'partial' });
  const tab = await open();
  const { page } = tab;
  await page.getByLabel('Client').fill('alice');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('Unknown client or wrong password.').waitFor();
  tab.forgive(/401/);
  t.is(await page.getByLabel('Client').inputValue(), 'alice', 'the name need not be typed again');
  await page.getByLabel('Password').fill('secret');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Deposits of alice' }).waitFor();
  await page.goto('/console/deposits?q=brush');
  await page.getByRole('row', { name: new RegExp(`^${own} Own brush`) }).waitFor();
  t.is(await page.getByText('Foreign brush').count(), 0);
  t.is(await page.getByRole('checkbox').count(), 0);
  await page.getByRole('button', { name: 'alice depositor' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Depositors' }).waitFor();
});

for (const javaScriptEnabled of [true, false])
  test(`the forms work in a browser without Sec-Fetch-Site, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async (t, open) => {
    await using proxy = await withoutFetchMetadata(t.context.service.url);
    const { page } = await open({ url: proxy.url, javaScriptEnabled });
    await page.getByLabel('Client').fill('alice');
    await page.getByLabel('Password').fill('secret');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(/\/console\/$/);
    if (javaScriptEnabled) await page.getByRole('button', { name: 'alice depositor' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\/console\/sign-in$/);
    await page.goto('/console/deposits');
    await page.waitForURL(/sign-in\?to=%2Fconsole%2Fdeposits$/);
    const cookies = await page.context().cookies();
    t.is(cookies.filter(({ name, value }) => name === 'deposit-console' && value !== '').length, 0);
  });
