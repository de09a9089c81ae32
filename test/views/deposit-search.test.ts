import { randomUUID } from 'node:crypto';
import test from 'ava';
import { depositSearch } from '../../projections/deposit-search.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import type { DepositEvent } from '../../src/domain/deposit/events.ts';
import type { JsonObject } from '../../src/event-log/event-log.ts';
import { foldStream } from '../../src/views/fold.ts';
import { executeDeposit } from '../../testing/domain/commands.ts';
import {
  changeDeposit,
  copyUnreadable,
  createDeposit,
  depositLoaded,
  depositRejected,
  depositVerified,
  entryWith,
  loadingFailed,
  loadingStarted,
  wayTo,
} from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';

/** An entry with as many and as long names of authors as its facts hold. */
function entryOfMany(number: number) {
  const authors = Array.from({ length: 20 }, (_, index) => `${number}.${index} ${'é'.repeat(190)}`);
  return entryWith({ title: null, authors });
}

test('the indexed text of a deposit is limited, however many authors its entries name', async (t) => {
  await using log = new MemoryEventLog();
  await executeDeposit(log, 1, createDeposit({ entry: entryOfMany(0), slug: 'paint', isFinal: false }));
  for (let number = 1; number < 100; number += 1) {
    const change = { kind: 'add-content', archive: null, entry: entryOfMany(number) } as const;
    await executeDeposit(log, 1, changeDeposit(change));
  }
  const view = await foldStream(depositSearch, log.readStream('deposit-1'));
  t.true((view?.words.length ?? Infinity) <= 10_000);
  t.is(view?.authors.length, 50);
  for (const word of ['paint', 'paint-1.0.tar.gz', '0.0 é']) t.true(view?.words.includes(word), word);
});

test('the next event of the checks or the loading ends the reason of an unreadable copy', async (t) => {
  for (const [before, next] of [
    ['DepositCompleted', depositVerified],
    ['DepositVerified', loadingStarted],
    ['LoadingStarted', depositLoaded],
  ] as const) {
    const waiting = [...wayTo(before), copyUnreadable];
    const unreadable = await viewOf(waiting);
    t.deepEqual(unreadable?.reasonCodes, ['OBJECT_MISSING'], before);
    t.regex(unreadable?.terms ?? '', / !OBJECT_MISSING /);
    const view = await viewOf([...waiting, next]);
    t.deepEqual(view?.reasonCodes, [], next.type);
    t.notRegex(view?.terms ?? '', /!/);
  }
});

test('a retry ends the reasons of a rejection and of a failure', async (t) => {
  for (const [way, next] of [
    [[...wayTo('DepositCompleted'), depositRejected], 'ChecksRetried'],
    [[...wayTo('LoadingStarted'), loadingFailed], 'LoadingRetried'],
  ] as const) {
    t.is((await viewOf(way))?.reasonCodes.length, 1, next);
    const retried = { type: next, data: { depositId: 1, attempt: 2 } } as const;
    t.deepEqual((await viewOf([...way, retried]))?.reasonCodes, [], next);
  }
});

test('the status detail of a rejection and of a failure has the warnings of the checks', async (t) => {
  const warnings = [{ code: 'ODD', text: 'An odd archive', fields: ['archive'] }];
  const completed = wayTo('DepositCompleted');
  const rejected = { ...depositRejected, data: { ...depositRejected.data, warnings } } as DepositEvent;
  const verified = { ...depositVerified, data: { ...depositVerified.data, warnings } } as DepositEvent;
  for (const way of [
    [...completed, rejected],
    [...completed, verified, loadingStarted, loadingFailed],
  ])
    t.regex((await viewOf(way))?.statusDetail ?? '', /An odd archive/, way.at(-1)?.type);
});

test('metadata added to a done deposit add authors, and change no single value', async (t) => {
  const done = wayTo('DepositLoaded');
  const entry = entryWith({ title: 'Other', authors: ['Bob'], externalIdentifier: 'hal-1' });
  const swhid = `swh:1:dir:${'1'.repeat(40)}`;
  const view = await viewOf([...done, { type: 'MetadataUpdated', data: { depositId: 1, swhid, entry } }]);
  t.like(view, { title: 'Paint', externalIdentifier: null, authors: ['Alice', 'Bob'] });
});

/** Resolves to the view of a deposit with these events. */
async function viewOf(events: readonly DepositEvent[]) {
  await using log = new MemoryEventLog();
  const stored = events.map(({ type, data }) => ({
    id: randomUUID(),
    type,
    data: data as JsonObject,
    metadata: { schemaVersion: deposits.codec.versionOf(type), occurredAt: '2026-03-01T10:00:00.000Z' },
  }));
  await log.append('deposit-1', 'none', stored);
  return await foldStream(depositSearch, log.readStream('deposit-1'));
}
