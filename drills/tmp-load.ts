import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Administration } from '../src/administration.ts';
import { readConfig } from '../src/config.ts';
import { WebhookKey } from '../src/notifications/webhook-key.ts';
import { openLog } from '../src/service.ts';
import { PatientDepositor } from '../test/support/patient-depositor.ts';
import { WebhookReceiver } from '../test/support/webhook-receiver.ts';
import { registerDrill, settled } from './drilled-service.ts';
import { freePort } from './free-port.ts';
import { RunOf } from './run-of.ts';
import { ServiceProcess } from './service-process.ts';
const S = { DEPOSIT_WEBHOOK_ALLOW_PRIVATE: 'true' };
for (const mode of process.argv.slice(2)) {
  const folder = await mkdtemp(path.join(tmpdir(), 'load-'));
  const receiver = await WebhookReceiver.start();
  await registerDrill(folder);
  if (mode !== 'none') {
    const config = readConfig({ ...S, DEPOSIT_DATA_DIR: folder });
    const key = await WebhookKey.make(config.webhooks.keyFile);
    await using log = await openLog(config);
    await new Administration(log, { kind: 'operator', name: 'x' }).client({ type: 'SetWebhook', client: 'drill', url: receiver.url, secret: key.seal(receiver.secret, 'drill') });
  }
  if (mode === 'silent') receiver.manners = () => 'silent';
  if (mode === 'slow') (receiver as any).slow = 100;
  if (mode === 'down') await receiver.down();
  const service = await ServiceProcess.start(folder, await freePort(), S);
  const depositor = new PatientDepositor({ nodes: [service.url, service.url], authorization: `Basic ${Buffer.from('drill:drill').toString('base64')}`, collection: 'drill' });
  const begun = performance.now();
  await new RunOf(depositor, 400).write(8);
  const ack = performance.now() - begun;
  await settled(folder);
  const done = performance.now() - begun;
  const limit = performance.now() + 60000;
  while (['ok', 'slow'].includes(mode) && new Set(receiver.taken.map((x) => x.id)).size < 2000 && performance.now() < limit) await new Promise((r) => setTimeout(r, 20));
  const told = performance.now() - begun;
  let held = 0;
  { await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: folder })); for await (const e of log.readAll({ streamPrefixes: ['notifications-'] })) if (e.type === 'NotificationHeld') held++; }
  const { statusOf } = { statusOf: (await import('node:fs')).readFileSync(`/proc/${service.pid}/status`, 'utf8') };
  console.log(mode, 'ack', ack.toFixed(0), 'done', done.toFixed(0), 'told', told.toFixed(0), 'received', receiver.received.length, 'unique', new Set(receiver.taken.map((x) => x.id)).size, 'held', held, /VmRSS:\s+(\d+)/.exec(statusOf)?.[1]);
  await service.end('SIGTERM'); await receiver.down(); await rm(folder, { recursive: true, force: true });
}
process.exit();
