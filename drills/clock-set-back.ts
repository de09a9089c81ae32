import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { TestClient } from '../testing/http/test-client.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { runScript } from '../testing/processes/run-script.ts';
import { Exposition } from '../testing/service/exposition.ts';
import { BegunBefore } from './clients/begun-before.ts';
import { MixedLoad } from './clients/mixed-load.ts';
import { promisesKept } from './clients/promises-kept.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { drillClient, drilledFolder, scratchFolder } from './service/drilled-service.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Sets the clock of the running service back under load, starts it again with that clock, and sets the clock right again. Work
in progress has to continue: ids, histories, repeated requests, resumable uploads, logins, streams of events, anchors,
views, gc, metrics.

  node drills/clock-set-back.ts [--minutes 60] [--seconds 3]

--seconds S  load before and after each change of the clock
`;

await runDrill(HELP, { minutes: 60, seconds: { full: 3, short: 1 } }, ({ minutes, seconds }) =>
  drill(minutes, seconds * 1000),
);

type Clock = { readonly env: Record<string, string>; set(minutes: number): Promise<void> };

async function drill(minutes: number, ms: number): Promise<Finding> {
  await using folder = await drilledFolder('clock');
  const { dataDir } = folder;
  await using clock = await shiftedClock();
  const broken: string[] = [];
  const must = (isSo: boolean, otherwise: string): void => {
    if (!isSo) broken.push(otherwise);
  };
  const port = await freePort();
  const client = drillClient(`http://127.0.0.1:${port}`);
  const mustPass = async (name: string, ...args: string[]): Promise<string> => {
    const { code, out, err } = await runScript(dataDir, name, args, { env: clock.env });
    must(code === 0, `${name} ended with ${code}: ${(out + err).slice(0, 2000)}`);
    return out;
  };
  const anchors = path.join(dataDir, 'anchors.ndjson');
  const load = new MixedLoad(client, { writers: 2 });
  await using first = await ServiceProcess.start(dataDir, port, clock.env);
  const before = await BegunBefore.begin(client, load.ledger);
  await pause(ms);
  await mustPass('anchor', '--file', anchors);

  await clock.set(-minutes);
  printProgress(`the clock goes ${minutes} minutes behind`);
  await pause(ms);
  broken.push(...(await before.goOn()));
  await mustPass('anchor', '--file', anchors);
  await mustPass('gc', '--remove', '--more-than-a-tenth', '--older-than', '1h');
  broken.push(...(await negativeMetrics(dataDir)), ...(await wrongLogins(client.url)));
  must((await first.end('SIGTERM')) === 0, 'The service did not end with 0 after the clock was set back.');

  await using second = await ServiceProcess.start(dataDir, port, clock.env);
  printProgress('started again with the clock behind');
  await pause(ms);
  await clock.set(0);
  printProgress('the clock is right again');
  await pause(ms);
  await load.stop();
  const kept = await promisesKept(load.ledger, client, dataDir);
  const turns = backwards(await mustPass('history', before.id, '--json'));
  must(turns > 0, 'The history does not show that the clock was set back: the drill did nothing.');
  const faults = broken.length;
  await mustPass('verify', '--all', '--anchors', anchors); // compares the views with the log, too
  const dangling = broken.length - faults;
  must((await second.end('SIGTERM')) === 0, 'The service did not end with 0.');
  const { ledger } = load;
  return {
    tried: `The clock was set back ${minutes} minutes under load, the service started again, the clock set right; ${ledger.acknowledged} writes acknowledged.`,
    held: 'Ids, order, histories, repeated requests, resumable uploads, logins, event streams, anchors, views, gc and metrics were right throughout.',
    broken: [...broken, ...ledger.faults, ...kept.lost, ...kept.doubled, ...kept.stuck],
    numbers: {
      acknowledged: ledger.acknowledged,
      deposits: ledger.deposits.size,
      'clock changes': 2,
      lost: kept.lost.length,
      doubled: kept.doubled.length,
      dangling,
      stuck: kept.stuck.length,
    },
  };
}

async function shiftedClock(): Promise<Clock & AsyncDisposable> {
  const folder = await scratchFolder('shift');
  const file = path.join(folder.path, 'milliseconds');
  await writeFile(file, '0');
  const module = pathToFileURL(path.join(import.meta.dirname, 'service/shifted-clock.ts'));
  return {
    env: { NODE_OPTIONS: `--import=${module.href}`, DRILL_CLOCK_FILE: file },
    set: (minutes) => writeFile(file, String(minutes * 60_000)),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Returns how often the time of an event is before that of the event before it. */
function backwards(history: string): number {
  const times = history
    .trim()
    .split('\n')
    .map((line) => Date.parse((JSON.parse(line) as { occurred_at: string }).occurred_at));
  return times.filter((time, index) => time < (times[index - 1] ?? -Infinity)).length;
}

async function negativeMetrics(dataDir: string): Promise<string[]> {
  const { samples } = await Exposition.of(dataDir);
  return samples.filter(({ value }) => value < 0).map(({ name, value }) => `The metric ${name} is ${value}.`);
}

/** Checks that guessed passwords are answered with a wait of seconds, not of hours. */
async function wrongLogins(url: string): Promise<string[]> {
  const guesser = new TestClient(url, 'nobody', 'guessed-in-the-drill');
  const guess = async () => {
    const answer = await guesser.get('/1/servicedocument/');
    await answer.text();
    return { status: answer.status, wait: Number(answer.headers.get('retry-after')) };
  };
  for (let times = 0; times < 5; times += 1) {
    const answers = await Promise.all(Array.from({ length: 30 }, guess));
    const refused = answers.filter(({ status }) => status === 429);
    if (refused.length === 0) continue;
    const wrong = refused.find(({ wait }) => !(wait > 0 && wait <= 60));
    return wrong ? [`Password guessing gets a Retry-After of ${wrong.wait} seconds.`] : [];
  }
  return ['Password guessing is never limited.'];
}
