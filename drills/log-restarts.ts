import { setTimeout as pause } from 'node:timers/promises';
import { OutageSite } from './engines/outage-site.ts';
import { type Finding, printProgress, runDrill, type Values } from './frame/drill.ts';

const HELP = `Deposits are accepted while no reactor node is connected, then the event log (the double of EventStoreDB) restarts: in
order, by SIGKILL, and with its groups alone. When reactor nodes start again, every deposit has to come to its end and
every notification to arrive, in order.

  node drills/log-restarts.ts [--rounds 6] [--deposits 30] [--main FILE]

--rounds N    restarts, one way after the other
--deposits N  deposits that are accepted in each round
--main FILE   the program of another release: src/main.ts of its checkout
`;

const WAYS = ['in order', 'by SIGKILL', 'its groups alone'] as const;
type Way = (typeof WAYS)[number];

/** The server writes checkpoints of groups every two seconds. */
const CHECKPOINTED_MS = 3500;

const OPTIONS = {
  rounds: { full: 6, short: 2 },
  deposits: { full: 30, short: 21 },
  main: { type: 'string' },
} as const;

await runDrill(HELP, OPTIONS, drill);

async function drill({ rounds, deposits, main, short }: Values<typeof OPTIONS>): Promise<Finding> {
  await using site = await OutageSite.start({
    name: 'log-restarts',
    main,
    roles: ['http', 'reactors', 'reactors'],
    timeLimit: short ? 25_000 : 90_000,
  });
  await site.deposit(0); // with it the groups exist, and have delivered something
  await site.unsettled();
  for (let round = 0; round < rounds; round += 1) {
    const way = WAYS[round % WAYS.length] as Way;
    await pause(CHECKPOINTED_MS);
    await site.cluster.remove('reactors', 'SIGTERM');
    const before = site.acknowledged;
    for (let turn = 0; site.acknowledged < before + deposits; turn += 1) await site.deposit(turn);
    await pause(CHECKPOINTED_MS);
    await restart(site, way);
    printProgress(`the log restarted ${way}; ${site.acknowledged} deposits acknowledged`);
    await site.cluster.add(['reactors', 'reactors']);
    const stuck = await site.unsettled();
    printProgress(`reactor nodes started: ${stuck.length} deposits do not come to their end`);
    if (stuck.length > 0) break;
  }
  const { broken, numbers } = await site.outcome();
  return {
    tried: `${deposits} deposits were accepted while no reactor node was connected, and the log restarted before one was; ${rounds} times (${WAYS.slice(0, rounds).join(', ')}).`,
    held: `Each deposit was done, all ${numbers['notified']} notifications came, in order, ${numbers['notifications repeated']} of them again.`,
    broken,
    numbers: { restarts: rounds, ...numbers },
  };
}

async function restart({ engines: { log } }: OutageSite, way: Way): Promise<void> {
  if (way === 'in order') await log.command('restart');
  else if (way === 'its groups alone') await log.command('restart-subsystem');
  else {
    await log.kill();
    await log.restart();
  }
}
