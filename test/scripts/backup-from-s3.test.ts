import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { FaultProxy } from '../../testing/http/fault-proxy.ts';
import { makeDoneDeposit } from '../../testing/http/made-deposits.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { S3Server } from '../../testing/s3/s3-server.ts';
import { RunningService } from '../../testing/service/running-service.ts';

test('a backup from S3 and a restore into S3 continue while the store restarts', async (t) => {
  await using s3 = await S3Server.start();
  await using proxy = await FaultProxy.start(s3.port);
  const storeIn = (bucket: string) => s3.settings(bucket, proxy.port);
  await using service = await RunningService.start({ archiveStore: s3.store('originals', proxy.port) });
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDoneDeposit(alice);
  await service.stop();

  let restarts = 0;
  const restart = async () => {
    restarts += 1;
    await proxy.refuse();
    void pause(1500).then(() => proxy.accept());
  };
  const backup = await temporaryFolder(t);
  proxy.inject({ kind: 'after', event: restart }, /^GET .*v1\/sha256\//, 1);
  const backedUp = await runScript(service.folder, 'backup', ['--init', backup, '--json'], {
    env: storeIn('originals'),
  });
  t.is(backedUp.code, 0, backedUp.err);
  t.like(JSON.parse(backedUp.out), { complete: true, objects: 4, copied: 4 });
  t.is(restarts, 1);

  const elsewhere = await temporaryFolder(t);
  proxy.inject({ kind: 'after', event: restart }, /^PUT .*v1\/sha256\//, 1);
  const restored = await runScript(elsewhere, 'restore', [backup, '--verify', '--json'], {
    env: storeIn('copies'),
  });
  t.is(restored.code, 0, restored.err);
  t.like(JSON.parse(restored.out), { objects: 4, copied: 4 });
  t.is(restarts, 2);
  await service.startAgain();
});
