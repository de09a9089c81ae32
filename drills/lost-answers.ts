import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../src/config/read-config.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { formType, helloForm } from '../testing/http/deposit-bodies.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { drillClient, drilledFolder, settled } from './service/drilled-service.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Sends the same create with one Idempotency-Key again and again, kills the service with SIGKILL at a random moment
of each, and looks whether one deposit was made.

  node drills/lost-answers.ts [--rounds 5] [--sent 10]

Each round: --sent times the same create, all answers but the last lost.
`;

/** Approximate duration of a create, in milliseconds. */
const LONGEST = 40;

await runDrill(HELP, { rounds: { full: 5, short: 1 }, sent: { full: 10, short: 3 } }, ({ rounds, sent }) =>
  drill(rounds, sent),
);

async function drill(rounds: number, sent: number): Promise<Finding> {
  await using folder = await drilledFolder('lost-answers');
  const { dataDir } = folder;
  const port = await freePort();
  for (let round = 1; round <= rounds; round += 1) {
    for (let time = 1; time < sent; time += 1) {
      await using service = await ServiceProcess.start(dataDir, port);
      const lost = create(service.url, round).catch(() => undefined);
      await pause(Math.random() * LONGEST);
      await service.end('SIGKILL');
      await lost;
    }
    await using service = await ServiceProcess.start(dataDir, port);
    const answer = await create(service.url, round);
    printProgress(
      `round ${round}: the last was answered ${answer.status}, ${answer.headers.get('location')}`,
    );
    await service.end('SIGTERM');
  }
  await using service = await ServiceProcess.start(dataDir, port);
  await settled(dataDir);
  await service.end('SIGTERM');
  const { created, loaded } = await countsIn(dataDir);
  const kills = rounds * (sent - 1);
  return {
    tried: `${rounds} creates with an Idempotency-Key were each sent ${sent} times, with a SIGKILL before all answers but the last.`,
    held: `${created} deposits were made and loaded, one for each.`,
    broken:
      created === rounds && loaded === rounds
        ? []
        : [`${created} deposits were made and ${loaded} loaded of ${rounds} creates.`],
    numbers: {
      kills,
      acknowledged: rounds,
      lost: Math.max(0, rounds - loaded),
      doubled: Math.max(0, created - rounds),
    },
  };
}

function create(url: string, round: number): Promise<Response> {
  return drillClient(url).post('/1/drill/', helloForm, { ...formType, 'Idempotency-Key': `round ${round}` });
}

async function countsIn(folder: string): Promise<{ created: number; loaded: number }> {
  await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: folder }));
  const types = await Array.fromAsync(log.readAll({ streamPrefixes: ['deposit-'] }), ({ type }) => type);
  const count = (wanted: string): number => types.filter((type) => type === wanted).length;
  return { created: count('DepositCreated'), loaded: count('DepositLoaded') };
}
