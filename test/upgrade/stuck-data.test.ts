import anyTest, { type TestFn } from 'ava';
import { readState } from '../../src/deposits/command-handler.ts';
import { isStatusChange } from '../../src/deposits/status-change.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import { RECEIVERS } from '../../src/reactors/reactor-names.ts';
import { settled } from './settled.ts';
import { type StuckService, startStuckService } from './stuck-service.ts';

const test = anyTest as TestFn<{ stuck: StuckService }>;

test.before(async (t) => {
  t.timeout(120_000);
  t.context.stuck = await startStuckService();
});
test.after.always((t) => t.context.stuck?.[Symbol.asyncDispose]());

test.serial('the groups of the older release have passed every stuck deposit', (t) => {
  const { expected, checkpoints, positions } = t.context.stuck;
  const stuck = expected.deposits.filter(({ frozen, finished }) => frozen !== finished);
  t.deepEqual([...new Set(stuck.map(({ frozen }) => frozen))].toSorted(), ['deposited', 'verified']);
  t.true(stuck.length > 7);
  t.is(checkpoints.length, RECEIVERS.length);
  for (const { depositId, label } of stuck) {
    const position = positions.get(depositId) ?? 0n;
    t.true(position > 0n && checkpoints.every((checkpoint) => position < checkpoint), label);
  }
});

test.serial('every stuck deposit finishes by the upgrade alone', async (t) => {
  t.timeout(120_000);
  const { expected, service } = t.context.stuck;
  const statusOf = async (id: number): Promise<string> =>
    (await readState(service.service.log, deposits, id)).state.status;
  for (const { depositId, label, finished } of expected.deposits) {
    await settled(async () => (await statusOf(depositId)) === finished);
    t.is(await statusOf(depositId), finished, label);
  }
});

test.serial('every notification is sent, in the order of its deposit', async (t) => {
  t.timeout(120_000);
  const { expected, receivers, service } = t.context.stuck;
  const accepted = expected.receivers.flatMap((receiver) => receiver.accepted);
  t.true(accepted.length < 10, 'the older release sent only a few of them');
  const ofBob = expected.deposits.filter(({ client }) => client === 'bob');
  for (const { depositId, label } of ofBob) {
    const events = await Array.fromAsync(service.service.log.readStream(`deposit-${depositId}`));
    const wanted = events.filter(isStatusChange).map(({ revision }) => revision);
    const revisions = () => receivers.acceptedOf('bob', depositId).map(({ revision }) => revision);
    await settled(() => wanted.every((revision) => revisions().includes(revision)));
    t.deepEqual(revisions(), wanted, label);
  }
});
