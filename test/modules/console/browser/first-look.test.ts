import { consoleTests } from '../../../../testing/browser/console-tests.ts';

const test = consoleTests({ alice: { collections: ['software'] } });

test('an operator signs in by a one-time link, and sees the frame', async (t, open) => {
  const { page } = await open({ role: 'operator' });
  await page.getByRole('navigation').getByRole('link', { name: 'Deposits' }).click();
  await page.getByRole('heading', { level: 1, name: 'Deposits' }).waitFor();
  await page.getByRole('button', { name: /live$/ }).waitFor();
  t.regex(page.url(), /console\/deposits$/);
});
