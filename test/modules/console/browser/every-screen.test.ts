import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { COLUMNS } from '../../../../src/modules/console/protocol/columns.ts';
import { depositOf } from '../../../../testing/browser/console-deposits.ts';
import { consoleTests } from '../../../../testing/browser/console-tests.ts';
import { appendFailedDeposit } from '../../../../testing/browser/picture-deposits.ts';
import type { ServiceWith } from '../../../../testing/service/test-of-service.ts';

const test = consoleTests({ alice: { collections: ['software'] } });

const SCREENS: Readonly<Record<string, (page: Page) => Locator>> = {
  '/console/': (page) => page.getByRole('region', { name: 'Latest changes' }),
  '/console/deposits': (page) => page.getByRole('table'),
  '/console/deposits/1?at=1': (page) => page.getByText('✔ hash').first(),
  '/console/deposits/1?tab=files': (page) => page.getByRole('region', { name: 'Directory' }),
  '/console/deposits/1?tab=files&path=hello/hello.py&lines=1': (page) =>
    page.getByRole('region', { name: 'Lines' }),
  '/console/deposits/1?tab=proof': (page) => page.getByLabel('Public keys'),
  '/console/search?q=paint': (page) => page.getByRole('table'),
  '/console/work': (page) => page.getByRole('table'),
};

let made: Promise<void> | undefined;

/** Makes what the screens show, once for all tests. */
async function make({ alice, service }: ServiceWith<'alice'>): Promise<void> {
  await depositOf(alice, { title: 'Paint one' });
  await depositOf(alice, { title: 'Paint two' });
  await service.administration.parking({
    type: 'ParkEvent',
    eventId: randomUUID(),
    reactor: 'notifier',
    stream: 'deposit-1',
    revision: 0,
    reason: 'It always fails.',
  });
}

for (const contrast of ['more', 'forced'] as const)
  for (const scheme of ['light', 'dark'] as const)
    test(`each screen in high contrast (${contrast}, ${scheme}) is readable and shows the selection`, async (t, open) => {
      await (made ??= make(t.context));
      const tab = await open({ role: 'operator', scheme, contrast });
      for (const [address, seen] of Object.entries(SCREENS)) {
        await tab.page.goto(address);
        await seen(tab.page).waitFor();
        t.deepEqual(await tab.accessibilityFaults(), [], address);
      }
      if (contrast === 'more') return;
      for (const [address, chosen] of [
        ['/console/deposits', '#app > nav a[aria-current]'],
        ['/console/deposits/1?at=1', '.events a[aria-current]'],
        ['/console/deposits/1?tab=files', '[aria-label="Parts of the deposit"] a[aria-current]'],
      ] as const) {
        await tab.page.goto(address);
        await tab.page.locator(chosen).waitFor();
        const style = `getComputedStyle(document.querySelector('${chosen}')).outlineStyle`;
        t.is(await tab.page.evaluate<string>(style), 'solid', address);
      }
    });

test('each control of each screen is reached by the Tab key in page order with a visible focus', async (t, open) => {
  await (made ??= make(t.context));
  const { page } = await open({ role: 'operator' });
  for (const [address, seen] of Object.entries(SCREENS)) {
    await page.goto(address);
    await seen(page).waitFor();
    const expected = await page.evaluate<string[]>(CONTROLS);
    t.true(expected.length > 8, address);
    const reached: string[] = [];
    for (let presses = 0; presses < expected.length; presses += 1) {
      await page.keyboard.press('Tab');
      const { name, isVisible } = await page.evaluate<{ name: string; isVisible: boolean }>(FOCUSED);
      t.true(isVisible, `${address}: the focus on ${name} is not visible`);
      reached.push(name);
    }
    t.deepEqual(reached, expected, address);
  }
});

test('the menu, the keys and the parts of a deposit are usable without a mouse', async (t, open) => {
  await (made ??= make(t.context));
  const { page } = await open({ role: 'operator' });
  const focus = async (control: Locator): Promise<void> => {
    while (!(await control.and(page.locator(':focus')).count())) await page.keyboard.press('Tab');
  };
  await page.getByRole('region', { name: 'Latest changes' }).waitFor();
  await focus(page.getByRole('button', { name: 'operator operator' }));
  await page.keyboard.press('Enter');
  await focus(page.getByLabel('Colours'));
  await page.keyboard.press('End');
  await page.locator('html[data-theme=dark]').waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Colours').waitFor({ state: 'hidden' });
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('g');
  await page.keyboard.press('d');
  await page.getByRole('table').waitFor();
  await page.keyboard.press('f');
  await page.locator('#filter-text:focus').waitFor();
  await page.getByRole('main').focus();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Deposit 1' }).waitFor();
  await focus(page.getByLabel('As of'));
  await page.keyboard.press('Home');
  await page.getByRole('heading', { name: 'Event #0: DepositCreated' }).waitFor();
  await focus(page.getByRole('link', { name: 'Files' }));
  await page.keyboard.press('Enter');
  await focus(page.getByRole('link', { name: 'hello/' }));
  await page.keyboard.press('Enter');
  await focus(page.getByRole('link', { name: 'hello.py' }));
  await page.keyboard.press('Enter');
  await focus(page.getByRole('link', { name: 'Line 1' }));
  await page.keyboard.press('Enter');
  await page.waitForURL(/lines=1/);
  t.pass();
});

/** A name of a control that no change of the time changes. */
const NAME_OF = `((element) => element.outerHTML.replaceAll(/<time.*?<\\/time>/g, '').slice(0, 150))`;

/** Evaluates to the controls that a reader can use, in the order of the page. */
const CONTROLS = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((element) => !element.matches(':disabled, [popover] *') && element.checkVisibility())
  .map(${NAME_OF})`;

/** Evaluates to the control with the focus, and whether its focus is drawn. */
const FOCUSED = `((element, { outlineStyle, outlineWidth }) => ({
  name: ${NAME_OF}(element),
  isVisible: outlineStyle !== 'none' && outlineWidth !== '0px',
}))(document.activeElement, getComputedStyle(document.activeElement))`;

for (const scheme of ['light', 'dark'] as const)
  test(`a refused address is a page, from which its reader can leave (${scheme})`, async (t, open) => {
    const tab = await open({ role: 'moderator', scheme, width: 360 });
    const { page } = tab;
    await page.getByText('Your role does not permit this.').waitFor();
    t.deepEqual(await tab.accessibilityFaults(), []);
    t.is(await page.getByRole('link').count(), 0, 'no page of the console is permitted');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Depositors' }).waitFor();
    await page.goto('/console/nothing');
    await page.getByText('There is nothing at this address.').waitFor();
    await page.getByRole('link', { name: 'To the overview' }).click();
    await page.waitForURL(/sign-in\?to=%2Fconsole%2F$/);
    tab.forgive(/status of 40[34]/);
  });

for (const width of [360, 700, 1024, 1280])
  test(`long texts and all columns fit into ${width} px, and an id stays on one line`, async (t, open) => {
    const { alice, service } = t.context;
    const word = 'W'.repeat(400);
    const made = await depositOf(alice, { title: word });
    await appendFailedDeposit(service, 900_000 + width, made);
    const parked = { reactor: 'loader', stream: 'deposit-1', revision: 0, reason: word };
    await service.administration.parking({ type: 'ParkEvent', eventId: randomUUID(), ...parked });
    const tab = await open({ role: 'operator', width });
    const columns = COLUMNS.map(({ name }) => name).join();
    for (const address of [
      '/console/',
      '/console/deposits',
      `/console/deposits?columns=${columns}`,
      '/console/work',
    ]) {
      await tab.page.goto(address);
      await tab.page.getByText(word).first().waitFor();
      t.true((await tab.overflow()) <= 0, address);
    }
    await tab.page.goto('/console/deposits');
    const id = tab.page.getByRole('link', { name: String(900_000 + width) });
    t.true(((await id.boundingBox())?.height ?? 100) < 30);
  });
