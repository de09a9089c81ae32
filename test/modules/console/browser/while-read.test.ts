import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { depositOf } from '../../../../testing/browser/console-deposits.ts';
import { consoleTests } from '../../../../testing/browser/console-tests.ts';
import { ATOM_TYPE, helloEntry, partial } from '../../../../testing/http/deposit-bodies.ts';
import { until } from '../../../../testing/processes/until.ts';

const test = consoleTests({
  alice: { collections: ['software'] },
  carol: { collections: ['papers'], domain: 'carol.example' },
});

/** Notes the parts of the page that move without an act of the reader. */
const NOTE_SHIFTS = `new PerformanceObserver((list) => {
  for (const { sources } of list.getEntries())
    for (const { node } of sources) (globalThis.moved ??= []).push((node.outerHTML ?? node.textContent).slice(0, 80));
}).observe({ type: 'layout-shift' })`;

const movedIn = (page: Page): Promise<readonly string[]> => page.evaluate('globalThis.moved ?? []');

const isFocused = (selector: string) => `document.activeElement.matches('${selector}')`;

test('deposits that a list does not show yet are announced above it, and nothing moves', async (t, open) => {
  const { alice, carol } = t.context;
  await depositOf(alice, { title: 'Plum' });
  const { page } = await open({ role: 'operator' });
  await page.goto('/console/deposits');
  await page.getByRole('row', { name: /Plum/ }).waitFor();
  await page.getByText('Newest first.').waitFor();
  await page.getByRole('button', { name: 'live' }).waitFor();
  await page.evaluate(NOTE_SHIFTS);
  await depositOf(alice, { title: 'Peach' });
  await page.getByRole('status').getByText('There are new deposits.').waitFor();
  await page.getByRole('button', { name: 'Show 1 new' }).focus();
  t.deepEqual(await movedIn(page), []);
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: /Peach/ }).waitFor();
  await page.getByText('Newest first.').waitFor();
  t.true(await page.evaluate(isFocused('.newer')), 'Tab leads to the list');

  await page.goto('/console/deposits?status=rejected');
  await page.getByText('No deposit matches.').waitFor();
  await page.getByRole('button', { name: 'live' }).waitFor();
  await depositOf(alice, { title: 'Apricot' });
  await depositOf(carol, { title: 'Sloe', collection: 'papers', status: 'rejected' });
  await page.getByRole('button', { name: 'Show 1 new' }).click();
  await page.getByRole('row', { name: /Sloe/ }).waitFor();

  await page.goto('/console/deposits?before=2');
  await page.getByRole('row', { name: /Plum/ }).waitFor();
  t.is(await page.getByText('Newest first.').count(), 0, 'an older page gets no new deposits');
});

test('a list says its order: that of the changes with a filter by time alone', async (t, open) => {
  const { alice } = t.context;
  await depositOf(alice, { title: 'Damson' });
  const { page } = await open({ role: 'operator' });
  for (const [query, order] of [
    ['since=2026-01-01', 'Last changed first.'],
    ['until=2126-01-01&client=alice&status=done', 'Last changed first.'],
    ['since=2026-01-01&q=damson', 'Newest first.'],
    ['since=2026-01-01&actor=alice', 'Newest first.'],
  ] as const) {
    await page.goto(`/console/deposits?${query}`);
    await page.getByText(order).waitFor();
  }
  t.pass();
});

test('a deposit that left the page is no longer selected, and an act leaves it out', async (t, open) => {
  const { alice } = t.context;
  const settings = { title: 'Greengage', status: 'partial' } as const;
  const first = await depositOf(alice, settings);
  const { page } = await open({ role: 'operator' });
  await page.goto('/console/deposits?status=partial');
  const checkbox = page.getByRole('checkbox', { name: `Select deposit ${first}`, exact: true });
  await checkbox.check();
  await page.getByText('1 selected').waitFor();
  await page.getByRole('button', { name: 'live' }).waitFor();
  for (let count = 0; count < 50; count += 1) await depositOf(alice, settings);
  await page.getByRole('button', { name: 'Show 50 new' }).click();
  await checkbox.waitFor({ state: 'detached' });
  await page.getByText('0 selected').waitFor();
  t.true(await page.getByRole('button', { name: 'Check again…', exact: true }).isDisabled());
});

test('an act on all that match is not asked about, or shown, over the list of another filter', async (t, open) => {
  const tab = await open({ role: 'operator' });
  const { page } = tab;
  const dialog = page.getByRole('dialog', { name: /^Check again/ });
  const checkAll = page.getByRole('button', { name: 'Check all that match…' });
  await page.goto('/console/deposits?status=rejected');
  const counted = Promise.withResolvers<void>();
  const answered = page.waitForResponse('**/deposits/count?*');
  await page.route('**/deposits/count?*', async (route) => {
    await counted.promise;
    await route.continue();
  });
  await checkAll.click();
  await page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: 'partial' }).click();
  await page.waitForURL(/status=partial/);
  counted.resolve();
  await (await answered).finished();
  await checkAll.click();
  await dialog.waitFor();
  await page.goBack();
  await dialog.waitFor({ state: 'detached', timeout: 10_000 });
  await page.route('**/deposits/count?*', (route) =>
    route.fulfill({ status: 409, json: { error: { code: 'TOO_MANY_DEPOSITS', message: 'Too many.' } } }),
  );
  await checkAll.click();
  await page.getByRole('alert').getByText('Too many.').waitFor();
  await page.goForward();
  await page.getByRole('alert').waitFor({ state: 'detached', timeout: 10_000 });
  tab.forgive(/status of 409/);
  t.pass();
});

test('a deleted deposit is shown as deleted, and the tabs have the numbers of now', async (t, open) => {
  const { alice } = t.context;
  const id = await depositOf(alice, { title: 'Cloudberry', collection: 'software', status: 'partial' });
  const { page } = await open({ role: 'operator' });
  await page.goto('/console/deposits?client=alice');
  const row = page.getByRole('row', { name: /Cloudberry/ });
  await row.getByText('partial').waitFor();
  await page.getByRole('button', { name: 'live' }).waitFor();
  const tab = page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: /partial/ });
  const before = Number(/\d+/.exec(await tab.innerText())?.[0]);
  t.is((await alice.send('DELETE', `/1/software/${id}/metadata/`)).status, 204);
  await row.getByText('deleted').waitFor();
  await until(async () => (await tab.innerText()).endsWith(` ${before - 1}`));
  t.pass();
});

test('keys after g open a page, also where a row has the same key', async (t, open) => {
  await depositOf(t.context.alice, { title: 'Bilberry' });
  const { page } = await open({ role: 'operator' });
  await page.goto('/console/deposits');
  await page.getByRole('row', { name: /Bilberry/ }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('g');
  await page.keyboard.press('o');
  await page.waitForURL(/\/console\/$/);
  await page.goBack();
  await page.waitForURL(/\/console\/deposits$/);
  t.pass();
});

test('the search box has the text of the address, also after the button back', async (t, open) => {
  const { page } = await open({ role: 'operator' });
  const box = page.getByRole('searchbox', { name: 'Search', exact: true });
  for (const text of ['cranberry', 'lingonberry']) {
    await box.fill(text);
    await box.press('Enter');
    await page.getByText(`Text “${text}”`).waitFor();
    t.true((await page.evaluate(isFocused('#search'))) || text === 'cranberry', 'another search can follow');
  }
  await page.goBack();
  await page.getByText('Text “cranberry”').waitFor();
  t.is(await box.inputValue(), 'cranberry');
  await page.goBack();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  t.is(await box.inputValue(), '');
});

test('a status that does not exist is the current one of the list, which is empty', async (t, open) => {
  const { page } = await open({ role: 'operator' });
  for (const status of ['constructor', 'finished']) {
    await page.goto(`/console/deposits?status=${status}`);
    await page.getByText('No deposit matches.').waitFor();
    const current = page.getByRole('navigation', { name: 'Status' }).locator('[aria-current]');
    t.regex(await current.innerText(), new RegExp(`^\\? ${status} 0$`));
  }
});

test('the latest changes stay in their place while changes come in', async (t, open) => {
  const { page } = await open({ role: 'operator' });
  const latest = page.getByRole('region', { name: 'Latest changes' });
  await page.getByRole('button', { name: 'live' }).waitFor();
  const before = (await latest.boundingBox())?.y;
  await depositOf(t.context.alice, { title: 'Bullace' });
  await page.getByText('Deposit loaded: ').waitFor();
  t.is((await latest.boundingBox())?.y, before);
});

test('the focus stays near a control that was removed', async (t, open) => {
  const { alice, service } = t.context;
  const id = await depositOf(alice, { title: 'Fig' });
  const { page } = await open({ role: 'operator' });
  await page.goto('/console/deposits?client=alice');
  await page.getByRole('link', { name: 'client: alice' }).press('Enter');
  await page.locator('.filters:focus').waitFor();
  await page.goto(`/console/deposits/${id}?at=1`);
  await page.getByRole('link', { name: 'Now' }).press('Enter');
  await page.locator('.as-of:focus').waitFor();
  await page.goto(`/console/deposits/${id}?tab=files`);
  await page.getByRole('link', { name: 'hello/' }).press('Enter');
  await page.locator('main div:focus').waitFor();
  await page.keyboard.press('Tab');
  t.is(await page.evaluate('document.activeElement.textContent'), 'root');
  const parked = { reactor: 'notifier', stream: `deposit-${id}`, revision: 0, reason: 'It fails.' };
  for (let count = 0; count < 2; count += 1)
    await service.administration.parking({ type: 'ParkEvent', eventId: randomUUID(), ...parked });
  await page.goto('/console/work');
  await page.getByRole('button', { name: 'Retry', exact: true }).first().press('Enter');
  await page.locator('tbody:focus').waitFor();
  await page.getByRole('button', { name: 'Retry', exact: true }).press('Enter');
  await page.getByText('No event is parked.').waitFor();
  await page.locator('main:focus').waitFor();
  t.pass();
});

test('a filter and a refusal show hidden characters of the address', async (t, open) => {
  const { page } = await open({ role: 'operator' });
  await page.goto('/console/deposits?slug=%E2%80%AEabc');
  await page.getByRole('link', { name: 'slug: U+202Eabc' }).waitFor();
  await page.goto('/console/deposits/1?at=%E2%80%AEabc');
  await page.getByRole('alert').getByText('“U+202Eabc” is neither').waitFor();
  t.pass();
});

test('the cursor of a list stays at its deposit when others come before it', async (t, open) => {
  const { alice } = t.context;
  const id = await depositOf(alice, { title: 'Medlar' });
  const { page } = await open({ role: 'operator' });
  await page.goto('/console/deposits');
  await page.getByRole('row', { name: /Medlar/ }).waitFor();
  await page.getByRole('button', { name: 'live' }).waitFor();
  await page.keyboard.press('j');
  await depositOf(alice, { title: 'Quince' });
  await page.getByRole('button', { name: 'Show 1 new' }).click();
  await page.getByRole('row', { name: /Quince/ }).waitFor();
  await page.keyboard.press('o');
  await page.waitForURL(new RegExp(`/console/deposits/${id}$`));
  t.pass();
});

test('a time that is being typed stays while the deposit changes', async (t, open) => {
  const { alice } = t.context;
  const id = await depositOf(alice, { title: 'Rose hip', status: 'partial' });
  const { page } = await open({ role: 'operator' });
  await page.goto(`/console/deposits/${id}`);
  await page.getByRole('button', { name: 'live' }).waitFor();
  const field = page.getByLabel('Time', { exact: true });
  await field.fill('2020-01-01T00:00');
  await alice.send('POST', `/1/software/${id}/metadata/`, { headers: { 'In-Progress': 'false' } });
  await page.getByText('Deposit completed by the client.').first().waitFor();
  t.is(await field.inputValue(), '2020-01-01T00:00');
  await field.fill('2020-01-01T00:00:00Z');
  await page.keyboard.press('Enter');
  await page.getByText('The deposit did not exist yet.').waitFor();
  t.is(await field.inputValue(), '2020-01-01T00:00:00Z');
  await page.getByRole('link', { name: 'Now' }).click();
  await page.getByRole('heading', { name: /^Event #/ }).waitFor();
  t.is(await field.inputValue(), '');
});

test('on a narrow page, an event that is chosen comes into view', async (t, open) => {
  const id = await depositOf(t.context.alice, { title: 'Rowan' });
  const { page } = await open({ role: 'operator', width: 390, height: 600 });
  await page.goto(`/console/deposits/${id}`);
  await page.getByRole('link', { name: /^#1 / }).click();
  const heading = page.getByRole('heading', { name: /^Event #1/ });
  await heading.waitFor();
  const isInView = async (control: Locator): Promise<boolean> => {
    const { y = 1000 } = (await control.boundingBox()) ?? {};
    return y >= 0 && y < 300;
  };
  await until(() => isInView(heading));
  const { pathname, search, hash } = new URL(page.url());
  await page.goto('/console/');
  await page.goto(pathname + search + hash); // as another reader opens the address
  await until(() => isInView(heading));
  await page.goto(`${pathname}#e4`);
  await until(() => isInView(page.locator('#e4')));
  t.pass();
});

test('the buttons back and forward, and a reload, lead to the place where a page was left', async (t, open) => {
  const { alice } = t.context;
  for (let count = 0; count < 20; count += 1)
    await depositOf(alice, { title: `Elm ${count}`, status: 'partial' });
  const { page } = await open({ role: 'operator', height: 300 });
  await page.goto('/console/deposits');
  const link = page.getByRole('row', { name: /Elm 3 / }).getByRole('link');
  await link.scrollIntoViewIfNeeded();
  await until(() => page.evaluate<boolean>('history.state?.top > 0'));
  const left = await page.evaluate<number>('scrollY');
  await link.click();
  await page.getByRole('heading', { name: /^Event #/ }).waitFor();
  await page.goBack();
  await until(() => page.evaluate<boolean>(`scrollY === ${left}`));
  await page.reload();
  await until(() => page.evaluate<boolean>(`scrollY === ${left}`));
  await page.goForward();
  await page.getByRole('heading', { name: /^Event #/ }).waitFor();
  t.is(await page.evaluate('scrollY'), 0);
  await page.goBack();
  await page.getByRole('row', { name: /Elm 3 / }).waitFor();
  await page.evaluate(`window.scrollTo(0, 77); document.querySelector('td a').click()`); // while the page still moves
  await page.getByRole('heading', { name: /^Event #/ }).waitFor();
  await page.goBack();
  await until(() => page.evaluate<boolean>('scrollY === 77'));
});

test('a long history shows the chosen event in its list, and a choice keeps the place in the list', async (t, open) => {
  const { alice } = t.context;
  const id = await depositOf(alice, { title: 'Hornbeam', status: 'partial' });
  for (let count = 0; count < 30; count += 1)
    await alice.put(`/1/software/${id}/metadata/`, helloEntry, { 'Content-Type': ATOM_TYPE, ...partial });
  const { page } = await open({ role: 'operator' });
  await page.goto(`/console/deposits/${id}`);
  const isSeen = async (name: RegExp): Promise<boolean> => {
    const { y = 1000 } = (await page.getByRole('link', { name }).boundingBox()) ?? {};
    return y > 0 && y < 850;
  };
  await until(() => isSeen(/^#32 /));
  t.false(await isSeen(/^#0 /));
  const place = () => page.evaluate<number>(`document.querySelector('.events').scrollTop`);
  const link = page.getByRole('link', { name: /^#15 / });
  await link.scrollIntoViewIfNeeded();
  const before = await place();
  await link.click();
  await page.getByRole('heading', { name: 'Event #15: MetadataReplaced' }).waitFor();
  t.is(await place(), before);
  t.true(await isSeen(/^#15 /));
  await page.getByLabel('As of').press('Home');
  await until(() => isSeen(/^#0 /));
});

test('the button back leads from an event that was chosen to the place where it was chosen', async (t, open) => {
  const id = await depositOf(t.context.alice, { title: 'Wych elm' });
  const { page } = await open({ role: 'operator', width: 390, height: 600 });
  await page.goto(`/console/deposits/${id}`);
  await page.getByRole('heading', { name: /^Event #/ }).waitFor();
  for (const top of [0, 40]) {
    await page.evaluate(`window.scrollTo(0, ${top})`);
    if (top > 0) await until(() => page.evaluate<boolean>(`history.state?.top === ${top}`));
    for (const event of ['#e6', '#e1']) {
      await page.evaluate(`document.querySelector('${event} a').click()`);
      await until(() => page.evaluate<boolean>(`scrollY > 100`));
      await page.goBack();
      await until(() => page.evaluate<boolean>(`scrollY === ${top}`));
    }
  }
  t.pass();
});

test('a copy is announced, another tab changes the colours, and a time without a zone is refused', async (t, open) => {
  const id = await depositOf(t.context.alice, { title: 'Yew' });
  const { page } = await open({ role: 'operator' });
  await page.context().grantPermissions(['clipboard-write', 'clipboard-read']);
  await page.goto(`/console/deposits/${id}`);
  await page.getByRole('button', { name: 'Copy npx deposit-service history' }).click();
  await page.getByRole('status').getByText(`Copied: npx deposit-service history ${id}`).waitFor();
  t.is(await page.evaluate('navigator.clipboard.readText()'), `npx deposit-service history ${id}`);
  await page.setViewportSize({ width: 390, height: 600 });
  await page
    .getByRole('button', { name: /^Copy swh:1:dir:/ })
    .first()
    .click();
  await page.getByRole('status').getByText('Copied: swh:1:dir:').waitFor({ state: 'attached' });
  t.is(
    await page.evaluate('document.documentElement.scrollWidth'),
    390,
    'the text that is read aloud takes no room',
  );
  await page.setViewportSize({ width: 1280, height: 800 });
  const other = await page.context().newPage();
  await other.goto('/console/');
  await other.getByRole('button', { name: /operator/ }).click();
  await other.getByLabel('Colours').selectOption('dark');
  await page.locator('html[data-theme=dark]').waitFor();
  await page.getByLabel('Time', { exact: true }).fill('2026-03-01 12:00');
  await page.getByLabel('Time', { exact: true }).press('Enter');
  await page.getByRole('alert').getByText('“2026-03-01 12:00” is neither a time with its zone').waitFor();
});
