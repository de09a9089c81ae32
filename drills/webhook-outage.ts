import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Administration } from '../src/administration.ts';
import { readConfig } from '../src/config.ts';
import { isNews } from '../src/news/deposit-news.ts';
import { WebhookKey } from '../src/notifications/webhook-key.ts';
import { openLog } from '../src/service.ts';
import { PatientDepositor } from '../test/support/patient-depositor.ts';
import { WebhookReceiver } from '../test/support/webhook-receiver.ts';
import { registerDrill, settled } from './drilled-service.ts';
import { freePort } from './free-port.ts';
import { ServiceProcess } from './service-process.ts';

const HELP = `Takes the receiver of a webhook away in the middle of a run of deposits, and looks afterwards whether every change
of status in the log was notified, signed, and in order for each deposit.

  node drills/webhook-outage.ts [--deposits 100] [--outage 60] [--kills 0]

--outage S  the receiver is away for S seconds from the 20th of a hundred deposits to the 80th
--kills N   the service is killed with SIGKILL and started again, N times during the run
Exit codes: 0 all held, 1 something broke, 2 wrong usage.
`;

const SETTINGS = { DEPOSIT_WEBHOOK_ALLOW_PRIVATE: 'true' };
const AUTHORIZATION = `Basic ${Buffer.from('drill:drill').toString('base64')}`;
/** For the rest to arrive when the receiver is back: its line is tried after a pause as long as the outage at most. */
const PATIENCE = 180_000;

type Drill = { readonly deposits: number; readonly outage: number; readonly kills: number };

async function drill({ deposits, outage, kills }: Drill): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deposit-outage-'));
  try {
    await using receiver = await WebhookReceiver.start();
    await registerDrill(folder);
    await setWebhook(folder, receiver);
    const port = await freePort();
    let service = await ServiceProcess.start(folder, port, SETTINGS);
    const { url } = service;
    const depositor = new PatientDepositor({
      nodes: [url, url],
      authorization: AUTHORIZATION,
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
    const told = await everythingTold(folder, receiver);
    const seconds = (performance.now() - backAt) / 1000;
    const exitCode = await service.end('SIGTERM');
    return report(receiver, told, { deposits, outage, kills, seconds, exitCode });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function setWebhook(folder: string, receiver: WebhookReceiver): Promise<void> {
  const config = readConfig({ ...SETTINGS, DEPOSIT_DATA_DIR: folder });
  const key = await WebhookKey.make(config.webhooks.keyFile);
  await using log = await openLog(config);
  const administration = new Administration(log, { kind: 'operator', name: 'drill' });
  const secret = key.seal(receiver.secret, 'drill');
  await administration.client({ type: 'SetWebhook', client: 'drill', url: receiver.url, secret });
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

/** Spread evenly over the run. */
function turns(kills: number, deposits: number): ReadonlySet<number> {
  return new Set(
    Array.from({ length: kills }, (_, kill) => Math.floor(((kill + 1) * deposits) / (kills + 1))),
  );
}

/** By deposit, the ids of the events that are news, in their order; resolves when all have arrived or it took too long. */
async function everythingTold(
  folder: string,
  receiver: WebhookReceiver,
): Promise<ReadonlyMap<number, string[]>> {
  const news = new Map<number, string[]>();
  await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: folder }));
  for await (const event of log.readAll({ streamPrefixes: ['deposit-'] })) {
    const id = Number(event.data['depositId']);
    if (isNews(event)) news.set(id, [...(news.get(id) ?? []), event.id]);
  }
  const wanted = [...news.values()].flat();
  const deadline = performance.now() + PATIENCE;
  const taken = (): Set<string> => new Set(receiver.taken.map(({ id }) => id));
  while (performance.now() < deadline && !wanted.every((id) => taken().has(id))) await pause(100);
  return news;
}

function report(
  receiver: WebhookReceiver,
  told: ReadonlyMap<number, string[]>,
  run: Drill & { readonly seconds: number; readonly exitCode: number | null },
): number {
  const wanted = [...told.values()].flat();
  const first = [...new Set(receiver.taken.map(({ id }) => id))];
  const missing = wanted.filter((id) => !first.includes(id)).length;
  const unknown = first.filter((id) => !wanted.includes(id)).length;
  const unsigned = receiver.received.filter(({ isSigned }) => !isSigned).length;
  const disordered = [...told].filter(([deposit, ids]) => {
    const came = new Set(receiver.taken.filter((one) => one.deposit === deposit).map(({ id }) => id));
    return [...came].join() !== ids.filter((id) => came.has(id)).join();
  }).length;
  say(
    `${run.deposits} deposits, ${wanted.length} changes of status, receiver away for ${run.outage} s, ${run.kills} kills: ` +
      `${first.length} notified, ${receiver.taken.length - first.length} of them again, ${missing} missing, ` +
      `${unknown} unknown, ${unsigned} unsigned, ${disordered} deposits out of order; ` +
      `the last ${run.seconds.toFixed(1)} s after everything had happened; exit ${run.exitCode}`,
  );
  const isAll = told.size >= run.deposits && missing + unknown + unsigned + disordered === 0;
  return isAll && run.exitCode === 0 ? 0 : 1;
}

function say(line: string): void {
  process.stdout.write(`${new Date().toISOString()} ${line}\n`);
}

const { values } = parseArgs({
  options: {
    deposits: { type: 'string', default: '100' },
    outage: { type: 'string', default: '60' },
    kills: { type: 'string', default: '0' },
    help: { type: 'boolean' },
  },
});
const numbers = {
  deposits: Number(values.deposits),
  outage: Number(values.outage),
  kills: Number(values.kills),
};
if (values.help) process.stdout.write(HELP);
else if (Object.values(numbers).some((number) => !Number.isSafeInteger(number) || number < 0)) {
  process.stderr.write('Each option is a whole number.\n');
  process.exitCode = 2;
} else process.exitCode = await drill(numbers);
