import { depositOf } from '../../../../testing/browser/console-deposits.ts';
import { consoleTests } from '../../../../testing/browser/console-tests.ts';
import { until } from '../../../../testing/service/running-service.ts';

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
