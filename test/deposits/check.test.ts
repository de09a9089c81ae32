import test from 'ava';
import type { ArchiveReader, Inspection } from '../../src/archives/archive-reader.ts';
import { type CheckParts, checkDeposit } from '../../src/deposits/check.ts';
import type { DepositCommand } from '../../src/domain/deposit/commands.ts';
import { archiveNamed } from '../../testing/domain/example-deposits.ts';

const MIB = 1024 ** 2;

/** Checks a deposit of this many archives, whose listings have this many bytes each. */
async function checked(archives: number, bytes: number) {
  let [inspected, merged] = [0, 0];
  const inspection = { outcome: 'accepted', format: 'tar.gz', files: 1, bytes: 1, warnings: [] } as const;
  const reader = {
    inspect: async () => {
      inspected += 1;
      return { ...inspection, listing: new Uint8Array(bytes) } as unknown as Inspection;
    },
    merge: async () => {
      merged += 1;
      return { outcome: 'refused', faults: [] };
    },
  } as unknown as ArchiveReader;
  const object = { length: 1, source: { kind: 'bytes', bytes: new Uint8Array(1) } as const };
  const store = { materialize: async () => ({ ...object, [Symbol.asyncDispose]: async () => undefined }) };
  const node = { views: { position: '' }, logins: { get: () => undefined } };
  const parts = { ...node, store, reader, limits: {} } as unknown as CheckParts;
  const deposit = {
    depositId: 1,
    client: 'alice',
    entries: [],
    archives: Array.from({ length: archives }, (_, index) => ({
      ...archiveNamed(`${index}.tar`, 'a'),
      number: index + 1,
    })),
    checkAttempt: 1,
  };
  const commands: DepositCommand[] = [];
  await checkDeposit(parts, deposit as never, '', async (command) => commands.push(command));
  const [command] = commands;
  const codes = command?.type === 'RecordRejected' ? command.reasons.map(({ code }) => code) : [];
  return { inspected, merged, codes };
}

test('the archives of a deposit are read until their listings exceed all accepted ones', async (t) => {
  const { inspected, merged, codes } = await checked(32, 100 * MIB);
  t.true(inspected <= 8, `${inspected} archives were read`);
  t.is(merged, 0);
  t.true(codes.includes('PATHS_TOO_LARGE'));
});

test('all archives are read and merged while their listings are smaller', async (t) => {
  const { inspected, merged, codes } = await checked(32, MIB);
  t.is(inspected, 32);
  t.is(merged, 1);
  t.false(codes.includes('PATHS_TOO_LARGE'));
});
