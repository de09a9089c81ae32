import test from 'ava';
import { depositSearch } from '../../projections/deposit-search.ts';
import { foldStream } from '../../src/views/fold.ts';
import { executeDeposit } from '../../testing/domain/commands.ts';
import { changeDeposit, createDeposit, entryWith } from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';

/** An entry with as many and as long names of authors as its facts hold. */
function entryOfMany(number: number) {
  const authors = Array.from({ length: 20 }, (_, index) => `${number}.${index} ${'é'.repeat(190)}`);
  return entryWith({ title: null, authors });
}

test('the indexed text of a deposit is limited, however many authors its entries name', async (t) => {
  await using log = new MemoryEventLog();
  await executeDeposit(log, 1, createDeposit({ entry: entryOfMany(0), slug: 'paint', final: false }));
  for (let number = 1; number < 100; number += 1) {
    const change = { kind: 'add-content', archive: null, entry: entryOfMany(number) } as const;
    await executeDeposit(log, 1, changeDeposit(change));
  }
  const view = await foldStream(depositSearch, log.readStream('deposit-1'));
  t.true((view?.words.length ?? Infinity) <= 10_000);
  t.is(view?.authors.length, 50);
  for (const word of ['paint', 'paint-1.0.tar.gz', '0.0 é']) t.true(view?.words.includes(word), word);
});
