import { setTimeout as pause } from 'node:timers/promises';
import { largeTar } from './clients/answered-deposits.ts';
import { OutageSite } from './engines/outage-site.ts';
import { type Finding, printProgress, runDrill, type Values } from './frame/drill.ts';

const HELP = `All reactor nodes are killed while archives are checked that take seconds, and so is the event log (the double of
EventStoreDB): seconds later, during which deposits are accepted, or at the same moment, in turn. When both are back, every deposit has to come to its end and every notification to arrive, in order.

  node drills/log-and-reactors-killed.ts [--kills 4] [--large 6] [--main FILE]

--kills N    kills, one after the other
--large N    archives that take seconds to check, before each kill
--main FILE  the program of another release: src/main.ts of its checkout
`;

/** With this number of files, reading an archive takes some seconds. */
const FILES = 40_000;
/** Deposits of small archives that queue after the large ones. */
const SMALL = 4;
/** The most by which the number of large archives grows until some are under way at the kill. */
const MAX_TIMES = 8;
/** The server writes checkpoints of groups every two seconds. */
const CHECKPOINTED_MS = 3000;

const OPTIONS = {
  kills: { full: 4, short: 1 },
  large: { full: 6, short: 4 },
  main: { type: 'string' },
} as const;

await runDrill(HELP, OPTIONS, drill);

async function drill({ kills, large, main, short }: Values<typeof OPTIONS>): Promise<Finding> {
  await using site = await OutageSite.start({
    name: 'killed-checks',
    main,
    roles: ['http', 'reactors', 'reactors'],
    timeLimit: short ? 40_000 : 120_000,
  });
  await site.deposit(0);
  await site.unsettled();
  let underWay = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    const open = await depositsUnderWay(site, large, kill);
    underWay += open.length;
    await killAll(site, kill % 2 === 1 ? 'log later' : 'at once');
    printProgress(`kill ${kill} of ${kills}, with ${open.length} deposits in progress`);
    await site.engines.log.restart();
    await site.cluster.add(['reactors', 'reactors']);
    const stuck = await site.unsettled();
    printProgress(`log and reactor nodes are back: ${stuck.length} deposits do not come to their end`);
    if (stuck.length > 0) break;
  }
  const { broken, numbers } = await site.outcome();
  return {
    tried: `The log and two reactor nodes were killed ${kills} times, at once or one after the other, while archives with ${FILES} files were checked; ${underWay} deposits were in progress.`,
    held: `Each deposit was done, all ${numbers['notified']} notifications came, in order, ${numbers['notifications repeated']} of them again.`,
    broken: [...(underWay < kills ? ['No deposit was under way at the kill.'] : []), ...broken],
    numbers: { kills, 'under way': underWay, ...numbers },
  };
}

/** Resolves to the deposits that are open once the server has written its checkpoints; a fast machine gets more of them. */
async function depositsUnderWay(site: OutageSite, large: number, kill: number): Promise<readonly string[]> {
  let open: readonly string[] = [];
  for (let count = large; open.length === 0 && count <= MAX_TIMES * large; count *= 2) {
    const archives = Array.from({ length: count }, (_, number) =>
      largeTar(FILES, `${kill}-${count}-${number}`),
    );
    await Promise.all(archives.map((archive, turn) => site.deposit(turn, archive)));
    for (let turn = 0; turn < SMALL; turn += 1) await site.deposit(turn);
    await pause(CHECKPOINTED_MS);
    open = await site.open();
  }
  return open;
}

async function killAll(site: OutageSite, when: 'log later' | 'at once'): Promise<void> {
  const { cluster, engines } = site;
  const killed = cluster.remove('reactors', 'SIGKILL');
  if (when === 'log later') {
    await killed;
    for (let turn = 0; turn < SMALL; turn += 1) await site.deposit(turn);
    await pause(CHECKPOINTED_MS);
  }
  await Promise.all([killed, engines.log.kill()]);
}
