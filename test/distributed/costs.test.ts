import test, { type ExecutionContext } from 'ava';
import { SentMessages } from '../../testing/eventstoredb-double/cluster/sent-messages.ts';
import { final, formType, helloForm } from '../../testing/http/deposit-bodies.ts';
import { until } from '../../testing/processes/until.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';

/** 1,000 for the figures of the documentation. */
const DEPOSITS = Number(process.env['COUNTED_DEPOSITS'] ?? 100);
const CALLS = ['append', 'read'] as const;
const FINAL = { ...formType, ...final };

// With 32 clients the views are behind the events that the reactors get.
test.serial('a deposit of 4 clients on EventStoreDB stays within its limits of calls', staysWithinLimits, 4);
test.serial(
  'a deposit of 32 clients on EventStoreDB stays within its limits of calls',
  staysWithinLimits,
  32,
);

/** Deposits on one node with all roles. */
async function staysWithinLimits(t: ExecutionContext, clients: number): Promise<void> {
  t.timeout(600_000);
  await using nodes = await DistributedNodes.start();
  const { faults, ports } = nodes.double;
  using sent = new SentMessages(ports);
  const node = await nodes.add(['http', 'reactors']);
  const alice = await nodes.register(node);
  const done = async (): Promise<number> => {
    const list = await (await alice.get('/1/software/?status=done&page_size=1')).text();
    return Number(/depositns:count>(\d+)</.exec(list)?.[1]);
  };
  const deposit = async (count: number): Promise<void> => {
    const all = (await done()) + count;
    let left = count;
    const depositAll = async (): Promise<void> => {
      for (; left > 0; ) {
        left -= 1;
        t.is((await alice.post('/1/software/', helloForm, FINAL)).status, 201);
      }
    };
    await Promise.all(Array.from({ length: clients }, depositAll));
    await until(async () => (await done()) === all);
  };
  await deposit(4);
  // The first sweep, ten seconds after the start, reads what waits for each reactor.
  await until(async () => (sent.byMethod.get('GetInfo') ?? 0) >= 3);
  const before = { calls: CALLS.map((call) => faults.seen(call)), messages: sent.total };
  await deposit(DEPOSITS);
  const [appends = NaN, reads = NaN] = CALLS.map(
    (call, index) => (faults.seen(call) - (before.calls[index] ?? 0)) / DEPOSITS,
  );
  const messages = (sent.total - before.messages) / DEPOSITS;
  t.log({ appends, reads, messages, byMethod: Object.fromEntries(sent.byMethod) });
  t.is(sent.compressible, 0, 'compressed messages cost both sides more than their bytes');
  // On a busy machine the starts of reactions to events of two seconds ago are counted: an append and two messages each.
  const { log } = node.service;
  const inStreams = async (prefix: string): Promise<number> =>
    (await Array.fromAsync(log.readAll({ streamPrefixes: [prefix] }))).length / DEPOSITS;
  const [counted, reserved] = [await inStreams('attempts-'), await inStreams('ids')];
  // The slower the machine, the fewer ids a reservation has.
  t.true(reserved <= 1.1, `${reserved} reservations of ids`);
  t.true(
    appends - counted - reserved <= 2.5,
    `${appends} appends, ${counted} starts counted, ${reserved} reservations of ids`,
  );
  t.true(reads <= 2, `${reads} reads`);
  t.true(messages - 2 * counted <= 24, `${messages} messages, ${counted} starts counted`);
}
