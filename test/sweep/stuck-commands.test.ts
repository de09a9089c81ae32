import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { jsonLines, runScript } from '../../testing/processes/run-script.ts';
import { deposit } from '../../testing/service/notified-service.ts';
import { RunningService } from '../../testing/service/running-service.ts';

/** The shortest time that the settings allow, in seconds: twice that of the longest check. */
const env = {
  DEPOSIT_STUCK_AFTER: '1',
  DEPOSIT_CHECK_TIME: '1000',
  DEPOSIT_MAX_UPLOAD_SIZE: '4096',
  DEPOSIT_MAX_RESUMABLE_SIZE: '0',
};

test('stuck deposits are shown by status and verify, and retried by one command that reports what it appended', async (t) => {
  await using service = await RunningService.start({ roles: ['http'] });
  const alice = await service.register('alice', { collections: ['software'] });
  const ids = [await deposit(alice, 'software'), await deposit(alice, 'software')];
  const longer = { ...env, DEPOSIT_STUCK_AFTER: '3600' };
  const before = await runScript(service.folder, 'retry', ['--stuck', '--json'], { env: longer });
  t.deepEqual([before.code, before.out], [0, ''], 'they are too recent');
  await pause(2100);

  const status = await runScript(service.folder, 'status', ['--json'], { env });
  t.like(JSON.parse(status.out), {
    deposits: { stuck: { by_status: { deposited: 2 }, after_seconds: 2.002 } },
  });
  const screen = (await runScript(service.folder, 'status', [], { env })).out;
  t.regex(screen, /stuck, unchanged for over 2 s: 2 deposited \("deposit-service retry --stuck"\)/);
  const verified = await runScript(service.folder, 'verify', ['--all', '--json'], { env });
  t.is(verified.code, 0, verified.err);
  t.regex(
    verified.out,
    new RegExp(`2 deposits wait for checks or loading, unchanged for over 2 s: ${ids.join(', ')}`),
  );

  const retried = await runScript(service.folder, 'retry', ['--stuck', '--json'], { env });
  t.is(retried.code, 0, retried.err);
  t.deepEqual(
    jsonLines(retried.out),
    ids.map((deposit_id) => ({ deposit_id, event: 'ChecksRetried', attempt: 2 })),
  );
  const types = await Array.fromAsync(
    service.service.log.readStream(`deposit-${ids[0]}`),
    ({ type }) => type,
  );
  t.deepEqual(types.slice(-2), ['DepositCompleted', 'ChecksRetried']);
  const again = await runScript(service.folder, 'retry', [String(ids[0])], { env });
  t.is(again.out, `Deposit ${ids[0]}: ChecksRetried, attempt 3.\n`);
});
