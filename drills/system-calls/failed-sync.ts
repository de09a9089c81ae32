import { hash } from 'node:crypto';
import { type AnsweredDeposits, newTar } from '../clients/answered-deposits.ts';
import type { ServiceProcess } from '../service/service-process.ts';
import { Strace } from './strace.ts';
import { disorder, type SystemCall, systemCalls } from './system-calls.ts';

const TRACED = 'trace=write,writev,pwrite64,fsync,fdatasync';
const LARGEST_PAGE = '70000';

/**
 * Fails the first sync of every thread, including that of the log. Checks that what is acknowledged afterwards was
 * written and synced after that: the kernel reports lost pages once, and the next sync of the same pages succeeds.
 */
export async function faultsOfAFailedSync(
  service: ServiceProcess,
  deposits: AnsweredDeposits,
): Promise<string[]> {
  const inject = ['-e', TRACED, '-e', 'inject=fsync,fdatasync:error=EIO:when=1'];
  const strace = await Strace.attach([service.pid], ['-f', '-y', '-s', LARGEST_PAGE, ...inject]);
  const acknowledged: string[] = [];
  for (let turn = 0; turn < 30 && acknowledged.length < 3; turn += 1) {
    const archive = newTar(2_000);
    const { status } = await deposits.deposit(archive);
    if (status === 201) acknowledged.push(hash('sha256', archive));
  }
  // The client has the last answer before strace has seen the write return; the next request comes after that.
  await (await fetch(`${service.url}/health/live`)).text();
  const calls = systemCalls(await strace.detach());
  const failure = calls.findIndex((call) => isSyncOfLog(call) && call.result.includes('INJECTED'));
  if (failure < 0) return ['The sync of the log could not be made to fail.'];
  if (acknowledged.length === 0) return ['After a failed sync of the log nothing more was acknowledged.'];
  const afterwards = calls.slice(failure + 1);
  const faults = acknowledged.map((sha256) =>
    disorder(afterwards, [
      {
        what: 'write of the events',
        fits: ({ name, args }) => name === 'pwrite64' && isOfLog(args) && args.includes(sha256),
      },
      {
        what: 'sync of the log that succeeded',
        fits: (call) => isSyncOfLog(call) && call.result.startsWith('0'),
      },
      { what: 'answer 201', fits: ({ args }) => args.includes('HTTP/1.1 201 ') },
    ]),
  );
  return faults.flatMap((fault) => (fault === undefined ? [] : [`After a failed sync of the log ${fault}.`]));
}

function isSyncOfLog({ name, args }: SystemCall): boolean {
  return (name === 'fsync' || name === 'fdatasync') && isOfLog(args);
}

function isOfLog(args: string): boolean {
  return /^\d+<[^>]*\/event-log\.sqlite-wal>/.test(args);
}
