import { createHash } from 'node:crypto';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { type Expected, shownNow } from './expected.ts';
import { testNotifications } from './notified-after-upgrade.ts';
import { testOperators } from './operated-after-upgrade.ts';
import { settled } from './settled.ts';
import { pathOf, type UpgradedService } from './upgraded-service.ts';
import { testUploads } from './uploaded-after-upgrade.ts';

export type Context = { upgraded: UpgradedService };
export type Test = TestFn<Context>;

/** Tests a service that was started on data which another release has frozen. */
export function testUpgrade(start: () => Promise<UpgradedService>): void {
  const test = anyTest as Test;
  test.before(async (t) => {
    t.timeout(300_000); // the receivers of another fixture may still have the same addresses
    t.context.upgraded = await start();
  });
  test.after.always((t) => t.context.upgraded?.[Symbol.asyncDispose]());

  test.serial('work that was open when the data were frozen finishes as in the old release', async (t) => {
    t.timeout(120_000);
    const { upgraded } = t.context;
    const open = upgraded.expected.deposits.filter(
      ({ frozen, finished }) => frozen.status !== finished.status,
    );
    t.true(open.length > 9);
    for (const deposit of open) {
      await settled(async () => (await statusInLog(upgraded, deposit)) === deposit.finished.status);
      await assertShown(t, deposit, deposit.finished);
    }
  });

  test.serial('every other deposit is shown as frozen', async (t) => {
    const { deposits } = t.context.upgraded.expected;
    const others = deposits.filter(({ frozen, finished }) => frozen.status === finished.status);
    t.true(others.length > 25);
    for (const deposit of others) await assertShown(t, deposit, deposit.frozen);
  });

  test.serial('a disabled client remains refused, also for deposits finished since', async (t) => {
    const { upgraded } = t.context;
    const answer = await upgraded.client('frank').get('/1/servicedocument/');
    t.true([401, 403].includes(answer.status), String(answer.status));
  });

  testNotifications(test);
  testUploads(test);
  testOperators(test);
}

type Frozen = Expected['deposits'][number];

/** Compares document, archives and history, as far as the client may see them. */
async function assertShown(
  t: ExecutionContext<Context>,
  deposit: Frozen,
  wanted: Frozen['frozen'],
): Promise<void> {
  const { upgraded } = t.context;
  const { label, depositId } = deposit;
  const events = await Array.fromAsync(upgraded.service.service.log.readStream(`deposit-${depositId}`));
  const recorded = events.map(({ id, type, revision }) => ({ id, type, revision }));
  t.deepEqual(recorded.slice(0, deposit.frozen.events.length), [...deposit.frozen.events], label);
  t.deepEqual(
    recorded.map(({ type }) => type),
    wanted.events.map(({ type }) => type),
    label,
  );
  if (wanted.document === null) return;
  t.like(await upgraded.statusOf(deposit), shownNow(withoutTime(deposit, wanted.document)), label);
  for (const [number, sha256] of Object.entries(wanted.archives)) {
    const answer = await upgraded.client(deposit.client).get(`${pathOf(deposit)}media/${number}/`);
    const found = createHash('sha256')
      .update(await answer.bytes())
      .digest('hex');
    t.is(found, sha256, `${label}, archive ${number}`);
  }
}

/** Leaves out when a deposit changed last, if this release has changed it. */
function withoutTime({ frozen, finished }: Frozen, document: Readonly<Record<string, unknown>>) {
  const { updated, ...others } = document;
  return frozen.events.length === finished.events.length ? { updated, ...others } : others;
}

const STATUS_OF = new Map([
  ['DepositLoaded', 'done'],
  ['LoadingFailed', 'failed'],
  ['DepositRejected', 'rejected'],
]);

async function statusInLog({ service }: UpgradedService, { depositId }: Frozen): Promise<string | undefined> {
  const events = await Array.fromAsync(service.service.log.readStream(`deposit-${depositId}`));
  return STATUS_OF.get(events.at(-1)?.type ?? '');
}
