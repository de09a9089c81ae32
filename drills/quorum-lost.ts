import { setTimeout as pause } from 'node:timers/promises';
import { OutageSite } from './engines/outage-site.ts';
import { slowerThan } from './engines/slow-returns.ts';
import { type Finding, printProgress, runDrill, type Values } from './frame/drill.ts';

const HELP = `A cluster of three event log servers (the double of EventStoreDB) loses its quorum under load: nothing is committed. First
the leader stays and commits in the end what it was sent; then it resigns, no server leads, and what it was sent is gone.
Requests have to be answered 201, or 503 after 20 s, no node may end, the first 201 must come within 3 s of the quorum, every deposit
has to come to its end and every notification to arrive, in order.

  node drills/quorum-lost.ts [--away 30] [--writers 4] [--main FILE]

--away S     seconds for which the quorum is lost, each time
--main FILE  the program of another release: src/main.ts of its checkout
`;

/** Fates of the appends that only the leader has, and when it resigns, in milliseconds. */
const FATES = ['keep', 'truncate 1000'] as const;
/** Milliseconds of attempts of one request: 20 s, less a pause that would end later. */
const TRIED_MS = 17_000;

const OPTIONS = {
  away: { full: 30, short: 4 },
  writers: { full: 4, short: 3 },
  main: { type: 'string' },
} as const;

await runDrill(HELP, OPTIONS, drill);

async function drill({ away, writers, main, short }: Values<typeof OPTIONS>): Promise<Finding> {
  const timeLimit = short ? 30_000 : 90_000;
  await using site = await OutageSite.start({ name: 'quorum', logArgs: ['--nodes', '3'], main, timeLimit });
  const load = site.load(writers);
  const returns: number[] = [];
  for (const fate of FATES) {
    await pause(2000); // load without a fault
    await site.engines.log.command(`lose-quorum ${away * 1000} ${fate}`);
    returns.push(await site.firstSuccessAfter(performance.now()));
    printProgress(
      `the quorum was lost for ${away} s (${fate}): the first 201 came ${Math.round(returns.at(-1) ?? 0)} ms after it was back; ${site.acknowledged} acknowledged`,
    );
  }
  await pause(1000);
  site.stopLoad();
  await load;
  const { broken, numbers } = await site.outcome();
  const slowest = Math.round(Math.max(...returns));
  const early = site.refusedAfter.filter((time) => time < TRIED_MS);
  return {
    tried: `Three servers lost their quorum for ${away} s under ${writers} writers, ${FATES.length} times: appends were committed late, or gone and no server led.`,
    held: `Every request was answered 201, or 503 after 20 s, no node ended, the first 201 came ${slowest} ms after the quorum at the latest; each deposit was done, all ${numbers['notified']} notifications came, in order, ${numbers['notifications repeated']} of them again.`,
    broken: [
      ...slowerThan(returns, 'the quorum was back'),
      ...(early.length === 0
        ? []
        : [
            `${early.length} requests were answered 503 early, the first after ${Math.round(Math.min(...early))} ms.`,
          ]),
      ...broken,
    ],
    numbers: {
      outages: FATES.length,
      'first 201, longest, ms': slowest,
      'early answers 503': early.length,
      ...numbers,
    },
  };
}
