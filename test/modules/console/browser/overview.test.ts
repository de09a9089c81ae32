import { depositOf } from '../../../../testing/browser/console-deposits.ts';
import { consoleTests } from '../../../../testing/browser/console-tests.ts';
import { appendDeposit } from '../../../../testing/browser/picture-deposits.ts';
import { createDeposit, entryWith } from '../../../../testing/domain/example-deposits.ts';

/** Without reactors, deposits wait for ever. */
const test = consoleTests({ alice: { collections: ['software'] } }, { roles: ['http'], stuckAfter: 0 });

test('the overview says which deposits are stuck, and counts the rejected ones of the last days', async (t, open) => {
  const { alice, service } = t.context;
  const { page } = await open({ role: 'operator' });
  const needs = page.getByRole('region', { name: 'Needs you' });
  await needs.getByText('Nothing needs you.').waitFor();

  await depositOf(alice, { title: 'Larch', status: 'deposited' });
  await needs.getByRole('link', { name: '1 stuck deposit (deposited)' }).click();
  await page.getByRole('row', { name: /Larch/ }).waitFor();

  const reason = { code: 'NO_ARCHIVE', text: 'The deposit has no software archive', fields: ['archive'] };
  for (const [depositId, uuid, occurredAt] of [
    [901, '6a1b4f0e-0000-4000-8000-000000000901', '2020-01-01T00:00:00.000Z'],
    [902, '6a1b4f0e-0000-4000-8000-000000000902', undefined],
  ] as const) {
    const made = createDeposit({ depositId, uuid, entry: entryWith({ title: `Spruce ${depositId}` }) });
    const rejected = {
      type: 'RecordRejected',
      depositId,
      attempt: 1,
      reasons: [reason],
      warnings: [],
    } as const;
    await appendDeposit(service, depositId, [made, rejected], occurredAt);
  }
  await page.getByRole('link', { name: 'Overview' }).click();
  await needs.getByRole('link', { name: /^1 rejected deposit since 20/ }).click();
  await page.getByRole('row', { name: /Spruce 902/ }).waitFor();
  t.is(await page.getByRole('row', { name: /Spruce/ }).count(), 1);
});
