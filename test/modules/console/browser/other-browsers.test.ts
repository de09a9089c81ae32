import { randomUUID } from 'node:crypto';
import { depositOf } from '../../../../testing/browser/console-deposits.ts';
import { consoleTests } from '../../../../testing/browser/console-tests.ts';
import { linkFor } from '../../../../testing/browser/sign-in.ts';
import { RunningService } from '../../../../testing/service/running-service.ts';

const test = consoleTests({ alice: { collections: ['software'] } });

test('without scripts, a link to sign in and each page say what is missing, and what works', async (t, open) => {
  const { page } = await open({ javaScriptEnabled: false });
  await page.goto(await linkFor(t.context.service, 'operator'));
  const shown = page.getByRole('main');
  t.is(
    await shown.innerText(),
    'Deposits\n\nThe console needs JavaScript: switch it on, and open the link again.',
  );
  await page.goto('/console/');
  await page.getByLabel('Client').fill('alice');
  await page.getByLabel('Password').fill('secret');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/\/console\/$/);
  t.regex(await shown.innerText(), /The console needs JavaScript: switch it on, and load this page again\./);
  const link = page.locator('a', { hasText: 'pages of your collections and deposits' });
  t.is(await link.getAttribute('href'), `${t.context.service.url}/1/servicedocument/`);
});

test('the pages of a deposit are linked at the base URL, which may have a path', async (t, open) => {
  const baseUrl = 'https://deposit.example/sword';
  await using service = await RunningService.start({ baseUrl });
  const id = await depositOf(await service.register('alice', { collections: ['software'] }));
  const { page } = await open({ url: service.url });
  await page.goto((await linkFor(service, 'depositor', 'alice')).replace(/^.*(?=\/console)/, service.url));
  await page.waitForURL(/\/console\/$/);
  await page.goto(`${service.url}/console/deposits/${id}`);
  const links = { 'Status page': 'status', Receipt: 'metadata' };
  for (const [name, end] of Object.entries(links)) {
    const link = page.getByRole('link', { name });
    t.is(await link.getAttribute('href'), `${baseUrl}/1/software/${id}/${end}/`);
  }
});

test('a browser with a wrong clock shows the time of the service, and how long ago its times are', async (t, open) => {
  const { alice, service } = t.context;
  const id = await depositOf(alice, { title: 'Whitebeam' });
  const parked = { reactor: 'loader', stream: `deposit-${id}`, revision: 0, reason: 'It fails.' };
  await service.administration.parking({ type: 'ParkEvent', eventId: randomUUID(), ...parked });
  const { page } = await open({ role: 'operator' });
  await page.addInitScript(`{
    const right = Date;
    globalThis.Date = class extends right {
      constructor(...parts) { super(...(parts.length === 0 ? [right.now() + 3600_000] : parts)); }
      static now() { return right.now() + 3600_000; }
    };
  }`);
  await page.goto('/console/work');
  await page.getByText(/^[\d.]+ s ago$/).waitFor();
  const shown = await page.locator('.clock time').getAttribute('datetime');
  t.true(Math.abs(Date.parse(String(shown)) - Date.now()) < 60_000, String(shown));
});

test('on paper, identifiers are shown in full, dark on light, without the controls', async (t, open) => {
  const id = await depositOf(t.context.alice, { title: 'Cornel' });
  const { page } = await open({ role: 'operator', width: 720 });
  await page.evaluate(`localStorage.setItem('deposit-console', '{"theme":"dark"}')`);
  await page.goto(`/console/deposits/${id}`);
  await page.getByText('✔ hash').first().waitFor();
  await page.emulateMedia({ media: 'print' });
  t.is(await page.getByRole('button').count(), 0);
  t.is(await page.getByRole('navigation').count(), 0);
  t.is(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'light');
  const cut = `[...document.querySelectorAll('code')].filter((code) => code.scrollWidth > code.clientWidth + 1 && code.clientWidth > 0).length`;
  t.is(await page.evaluate(cut), 0);
});
