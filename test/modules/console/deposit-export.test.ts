import test from 'ava';
import type { DepositSearchView } from '../../../projections/deposit-search.ts';
import { VisibleDeposits } from '../../../src/modules/console/listing/visible-deposits.ts';
import { ViewUnavailable } from '../../../src/views/view-unavailable.ts';
import { ConsoleSession } from '../../../testing/browser/sign-in.ts';
import { until } from '../../../testing/processes/until.ts';
import { keptLines } from '../../../testing/service/kept-lines.ts';
import { RunningService } from '../../../testing/service/running-service.ts';

test('an export that fails is logged: 503 before the first page, a closed connection after it', async (t) => {
  const { logger, lines } = keptLines();
  await using service = await RunningService.start({}, logger);
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const failures = () => lines.filter(({ msg }) => msg === 'unavailable').length;
  let readable = 0;
  VisibleDeposits.prototype.find = () => {
    if ((readable -= 1) < 0) throw new ViewUnavailable('The view cannot be read.');
    return Array.from({ length: 501 }, (_, index) => ({ depositId: 501 - index }) as DepositSearchView);
  };
  for (const format of ['csv', 'ndjson']) {
    const path = `/console/api/deposits/export/${format}?columns=title`;
    const before = failures();
    const answer = await auditor.get(path);
    t.is(answer.status, 503, format);
    t.is(answer.headers.get('Content-Disposition'), null);
    t.is(failures(), before + 1, format);
    readable = 1;
    const broken = await auditor.get(path);
    t.is(broken.status, 200, format);
    await t.throwsAsync(broken.text());
    await until(async () => failures() === before + 2);
  }
});
