import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../testing/processes/free-port.ts';
import { runScript } from '../testing/processes/run-script.ts';
import { MixedLoad } from './clients/mixed-load.ts';
import { promisesKept } from './clients/promises-kept.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { drillClient, drilledFolder } from './service/drilled-service.ts';
import { everythingVerified } from './service/everything-verified.ts';
import { NotStarted, ServiceProcess } from './service/service-process.ts';

const HELP = `Starts further services on the data folder of one that runs under load, some at the same moment. Each has to be refused
with the folder and the process that holds it; the first has to continue, and commands have to work meanwhile. Killed with
SIGKILL, it has to leave nothing that keeps the next one from starting.

  node drills/two-on-one-folder.ts [--rounds 5]
`;

/** Commands that run while the service runs. */
const COMMANDS: readonly (readonly [string, ...string[]])[] = [
  ['status', '--json'],
  ['gc', '--older-than', '1h', '--json'],
];

/** Services that are started at once on a free folder. */
const TOGETHER = 3;

await runDrill(HELP, { rounds: { full: 5, short: 1 } }, ({ rounds, short }) =>
  drill(rounds, short ? 2 : TOGETHER),
);

async function drill(rounds: number, atOnce: number): Promise<Finding> {
  await using folder = await drilledFolder('shared');
  const { dataDir } = folder;
  const port = await freePort();
  const client = drillClient(`http://127.0.0.1:${port}`);
  const load = new MixedLoad(client, { writers: 2 });
  const broken: string[] = [];
  let refused = 0;
  for (let round = 1; round <= rounds; round += 1) {
    await using first = await ServiceProcess.start(dataDir, port);
    const others = await Promise.all([another(dataDir, first.pid), another(dataDir, first.pid)]);
    refused += others.length;
    broken.push(...others.flat());
    if (!(await first.isReady())) broken.push('The first service is no longer ready.');
    if (round === 1) broken.push(...(await commandFaults(dataDir)));
    await first.end('SIGKILL');
    printProgress(`round ${round} of ${rounds}: ${refused} refused`);
  }
  const together = await startTogether(dataDir, atOnce);
  await using last = together.services[0] ?? (await ServiceProcess.start(dataDir, port));
  if (together.services.length !== 1)
    broken.push(`Of ${atOnce} services started at once ${together.services.length} run.`);
  await last.end('SIGKILL');
  await using service = await ServiceProcess.start(dataDir, port);
  await pause(300);
  await load.stop();
  const kept = await promisesKept(load.ledger, client, dataDir);
  const dangling = await everythingVerified(dataDir);
  const code = await service.end('SIGTERM');
  if (code !== 0) broken.push(`The service ended with ${code} after SIGTERM.`);
  const { acknowledged, faults } = load.ledger;
  return {
    tried: `${refused} services were started on the folder of a running one, ${atOnce} at once on a free one, and the first was killed ${rounds} times.`,
    held: 'Each but one was refused with the folder and the process that holds it; the first continued, commands worked meanwhile, and the next one started.',
    broken: [...broken, ...faults, ...kept.lost, ...kept.doubled, ...kept.stuck, ...dangling],
    numbers: {
      refused: refused + together.refused,
      kills: rounds + 1,
      acknowledged,
      lost: kept.lost.length,
      doubled: kept.doubled.length,
      dangling: dangling.length,
      stuck: kept.stuck.length,
    },
  };
}

/** Resolves to what is wrong with the refusal, a sentence each. */
async function another(dataDir: string, holder: number): Promise<string[]> {
  try {
    await using _service = await ServiceProcess.start(dataDir, await freePort());
    return ['A second service started on the folder of a running one.'];
  } catch (error) {
    if (!(error instanceof NotStarted)) throw error;
    const { code, message } = error;
    const isClear =
      message.includes(dataDir) && message.includes(`process ${holder}`) && !/\n\s+at /.test(message);
    return code === 2 && isClear ? [] : [`A second service was refused with ${code}: ${message}`];
  }
}

/** Starts them at once and resolves to those that run in the end. */
async function startTogether(dataDir: string, count: number) {
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const starts = await Promise.allSettled(ports.map((port) => ServiceProcess.start(dataDir, port)));
  const services = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  for (const service of services.slice(1)) await service.end('SIGKILL');
  return { services, refused: count - services.length };
}

async function commandFaults(dataDir: string): Promise<string[]> {
  const broken: string[] = [];
  for (const [name, ...args] of COMMANDS) {
    const { code, err } = await runScript(dataDir, name, args);
    if (code !== 0) broken.push(`${name} with a running service ended with ${code}: ${err.trim()}`);
  }
  return broken;
}
