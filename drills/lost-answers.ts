import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readArguments, runCommand } from '../scripts/command.ts';
import { readConfig } from '../src/config.ts';
import { openLog } from '../src/service.ts';
import { archivePart, entryPart, formOf, formType } from '../test/support/deposit-bodies.ts';
import { registerDrill, settled } from './drilled-service.ts';
import { freePort } from './free-port.ts';
import { ServiceProcess } from './service-process.ts';

const HELP = `Sends the same create with one Idempotency-Key again and again, kills the service with SIGKILL at a random moment
of each, and looks whether one deposit was made.

  node drills/lost-answers.ts [--rounds 5] [--sent 10]

Each round: --sent times the same create, all answers but the last lost. Exit codes: 0 all held, 1 something broke.
`;

/** A create takes about this long, in milliseconds. */
const LONGEST = 40;

await runCommand(
  HELP,
  async (args) => {
    const { values } = readArguments(args, {
      rounds: { type: 'string', default: '5' },
      sent: { type: 'string', default: '10' },
    });
    const [rounds, sent] = [Number(values.rounds), Number(values.sent)];
    const folder = await mkdtemp(path.join(tmpdir(), 'lost-answers-'));
    await registerDrill(folder);
    const port = await freePort();
    for (let round = 1; round <= rounds; round += 1) {
      for (let time = 1; time < sent; time += 1) {
        await using service = await ServiceProcess.start(folder, port);
        const lost = create(service.url, round).catch(() => undefined);
        await pause(Math.random() * LONGEST);
        await service.end('SIGKILL');
        await lost;
      }
      await using service = await ServiceProcess.start(folder, port);
      const answer = await create(service.url, round);
      process.stderr.write(
        `round ${round}: the last was answered ${answer.status}, ${answer.headers.get('location')}\n`,
      );
      await service.end('SIGTERM');
    }
    await using service = await ServiceProcess.start(folder, port);
    await settled(folder);
    await service.end('SIGTERM');
    const counts = await countsIn(folder);
    process.stdout.write(
      `${rounds} creates, each sent ${sent} times with ${sent - 1} kills: ${counts.created} deposits made, ${counts.loaded} loaded\n`,
    );
    await rm(folder, { recursive: true });
    return counts.created === rounds && counts.loaded === rounds ? 0 : 1;
  },
  { mayBeBare: true },
);

function create(url: string, round: number): Promise<Response> {
  const body = new Uint8Array(formOf([archivePart(), entryPart()]));
  const Authorization = `Basic ${Buffer.from('drill:drill').toString('base64')}`;
  const headers = { Authorization, ...formType, 'Idempotency-Key': `round ${round}` };
  return fetch(`${url}/1/drill/`, { method: 'POST', body, headers });
}

async function countsIn(folder: string): Promise<{ created: number; loaded: number }> {
  await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: folder }));
  const types = await Array.fromAsync(log.readAll({ streamPrefixes: ['deposit-'] }), ({ type }) => type);
  const count = (wanted: string): number => types.filter((type) => type === wanted).length;
  return { created: count('DepositCreated'), loaded: count('DepositLoaded') };
}
