import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../testing/processes/free-port.ts';
import { AnsweredDeposits, newTar } from './clients/answered-deposits.ts';
import { Guesses } from './clients/guesses.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { percentile } from './frame/percentile.ts';
import { drilledFolder } from './service/drilled-service.ts';
import { peakMemory } from './service/process-facts.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Tries wrong passwords, 64 at a time, from as many names and addresses of this machine, while a client whose password is
right deposits archives of 1 MiB. Its deposits must stay quick, and the guesses must be limited.

  node drills/wrong-passwords.ts [--seconds 30] [--guessers 64]
`;

const MIB = 1024 ** 2;
/** Limit of a deposit of 1 MiB during the guesses, at the 99th percentile, in milliseconds. */
const GOAL = 2_000;

await runDrill(HELP, { seconds: { full: 30, short: 5 }, guessers: 64 }, async ({ seconds, guessers }) =>
  drill(seconds, guessers),
);

async function drill(seconds: number, guessers: number): Promise<Finding> {
  await using folder = await drilledFolder('guesses');
  await using service = await ServiceProcess.start(folder.dataDir, await freePort());
  const deposits = new AnsweredDeposits(service.url, []);
  await deposits.deposit(newTar(MIB)); // its password has been verified once, like that of every active client
  deposits.times.length = 0;
  const until = performance.now() + seconds * 1000;
  const guesses = new Guesses(service.url);
  const ticker = setInterval(
    () => printProgress(`${guesses.count} guesses, ${deposits.times.length} deposits of 1 MiB`),
    5000,
  ).unref();
  await Promise.all([
    ...Array.from({ length: guessers }, (_, guesser) => guesses.goOn(guesser, until)),
    depositUntil(deposits, until),
  ]);
  clearInterval(ticker);
  const memory = await peakMemory(service.pid);
  const code = await service.end('SIGTERM');
  const p99 = percentile(deposits.times, 0.99);
  const broken = [
    ...deposits.faults,
    ...guesses.faults,
    ...(p99 > GOAL ? [`The 99th percentile of a deposit of 1 MiB was ${Math.round(p99)} ms.`] : []),
    ...(guesses.answered(429) + guesses.answered(503) === 0 ? ['No guess was limited.'] : []),
    ...(code === 0 ? [] : [`The service ended with ${code}: ${service.said}`]),
  ];
  return {
    tried: `${guesses.count} wrong passwords in ${seconds} s, ${guessers} at a time, each guesser under a name and from an address of its own, with a client that deposited 1 MiB repeatedly.`,
    held: `Its deposits took ${Math.round(p99)} ms at the 99th percentile; the guesses were answered 401, 429 or 503, the last two with Retry-After.`,
    broken,
    numbers: {
      guesses: guesses.count,
      'answered 401': guesses.answered(401),
      'answered 429': guesses.answered(429),
      'answered 503': guesses.answered(503),
      'deposits of 1 MiB': deposits.times.length,
      'p50, ms': Math.round(percentile(deposits.times, 0.5)),
      'p99, ms': Math.round(p99),
      'longest, ms': Math.round(Math.max(0, ...deposits.times)),
      'memory, MiB': memory,
    },
  };
}

async function depositUntil(deposits: AnsweredDeposits, until: number): Promise<void> {
  while (performance.now() < until) {
    await deposits.deposit(newTar(MIB));
    await pause(20);
  }
}
