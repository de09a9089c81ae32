import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../src/config/read-config.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { RetryingDepositor } from '../testing/http/retrying-depositor.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { WebhookReceiver } from '../testing/service/webhook-receiver.ts';
import {
  type NotificationsReceived,
  notificationsReceived,
  statusEvents,
} from './clients/notifications-received.ts';
import { registerNotified } from './clients/notified-client.ts';
import { type Finding, runDrill, printProgress as say, type Values } from './frame/drill.ts';
import { drillClient, scratchFolder, settled } from './service/drilled-service.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Takes the receiver of a webhook away in the middle of a run of deposits, and looks afterwards whether every change
of status in the log was notified, signed, and in order for each deposit.

  node drills/webhook-outage.ts [--deposits 100] [--outage 60] [--kills 0]

--outage S  the receiver is away for S seconds from the 20th of a hundred deposits to the 80th
--kills N   the service is killed with SIGKILL and started again, N times during the run
`;

const SETTINGS = { DEPOSIT_WEBHOOK_ALLOW_PRIVATE: 'true' };
/**
 * Time limit for the remaining notifications after the receiver is back: it is tried again after a pause as long as
 * the outage at most.
 */
const TIME_LIMIT_MS = 180_000;

const OPTIONS = {
  deposits: { full: 100, short: 10 },
  outage: { full: 60, short: 1, least: 0 },
  kills: { full: 0, short: 0, least: 0 },
} as const;

await runDrill(HELP, OPTIONS, drill);

async function drill(values: Values<typeof OPTIONS>): Promise<Finding> {
  const { deposits, outage, kills } = values;
  await using scratch = await scratchFolder('outage');
  const folder = scratch.path;
  await using receiver = await WebhookReceiver.start();
  await registerNotified({ ...SETTINGS, DEPOSIT_DATA_DIR: folder }, receiver);
  const port = await freePort();
  let service = await ServiceProcess.start(folder, port, SETTINGS);
  await using _service = { [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
  const { url } = service;
  const depositor = new RetryingDepositor({
    nodes: [url, url],
    authorization: drillClient(url).authorization,
    collection: 'drill',
  });
  const killAt = turns(kills, deposits);
  const away = takeAway(receiver, outage);
  for (let turn = 0; turn < deposits; turn += 1) {
    const due = pause((outage * 1000) / (deposits * 0.6));
    if (turn === Math.floor(deposits * 0.2)) away.begin();
    if (killAt.has(turn)) service = await killed(service, folder, port);
    await depositor.deposit(turn);
    await due;
  }
  await away.over;
  await settled(folder);
  const backAt = performance.now();
  const received = await awaited(folder, receiver);
  const seconds = (performance.now() - backAt) / 1000;
  const exitCode = await service.end('SIGTERM');
  return report(received, { ...values, seconds, exitCode });
}

function takeAway(receiver: WebhookReceiver, seconds: number) {
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  const away = async (): Promise<void> => {
    await receiver.down();
    say(`the receiver is away; ${receiver.taken.length} notifications taken so far`);
    await pause(seconds * 1000);
    await receiver.up();
    say('the receiver is back');
  };
  return { over, begin: () => void away().then(resolve, reject) };
}

async function killed(service: ServiceProcess, folder: string, port: number): Promise<ServiceProcess> {
  await service.end('SIGKILL');
  say('the service was killed');
  return ServiceProcess.start(folder, port, SETTINGS);
}

/** Spreads the turns evenly over the run. */
function turns(kills: number, deposits: number): ReadonlySet<number> {
  return new Set(
    Array.from({ length: kills }, (_, kill) => Math.floor(((kill + 1) * deposits) / (kills + 1))),
  );
}

/** Waits until every notification has come, or for the time limit. */
async function awaited(folder: string, receiver: WebhookReceiver): Promise<NotificationsReceived> {
  await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: folder }));
  const wanted = await statusEvents(log);
  const deadline = performance.now() + TIME_LIMIT_MS;
  for (;;) {
    const found = notificationsReceived(wanted, receiver);
    if (found.lost === 0 || performance.now() > deadline) return found;
    await pause(100);
  }
}

function report(
  { wanted, lost, disordered, repeated, unknown, unsigned, deposits }: NotificationsReceived,
  run: Values<typeof OPTIONS> & { readonly seconds: number; readonly exitCode: number | null },
): Finding {
  const faults = { missing: lost, unknown, unsigned, 'deposits out of order': disordered.length };
  return {
    tried: `The receiver of webhooks was away for ${run.outage} s in the middle of ${run.deposits} deposits, and the service killed ${run.kills} times.`,
    held: `All ${wanted} changes of status were notified, signed and in order, ${repeated} of them again; the last ${run.seconds.toFixed(1)} s after everything had happened.`,
    broken: [
      ...Object.entries(faults).flatMap(([what, count]) =>
        count > 0 ? [`Notifications: ${count} ${what}.`] : [],
      ),
      ...(deposits >= run.deposits ? [] : [`Only ${deposits} of ${run.deposits} deposits are in the log.`]),
      ...(run.exitCode === 0 ? [] : [`The service ended with ${run.exitCode} after SIGTERM.`]),
    ],
    numbers: {
      kills: run.kills,
      deposits: run.deposits,
      notified: wanted - lost + unknown,
      again: repeated,
      ...faults,
    },
  };
}
