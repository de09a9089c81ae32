import { setTimeout as pause } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import { ServiceProcess } from '../../drills/service/service-process.ts';
import { ControlClient as OperatedService } from '../../src/service/operator-port/control-client.ts';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { formType, helloForm } from '../../testing/http/deposit-bodies.ts';
import type { RetryingDepositor } from '../../testing/http/retrying-depositor.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { ALL_HELD, DistributedNodes } from '../../testing/service/distributed-nodes.ts';
import type { RunningService } from '../../testing/service/running-service.ts';

const NO_FAULT = { kind: 'delay', milliseconds: 0 } as const;

test('appends committed without a response, or with a timeout, are recorded once', async (t) => {
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http', 'reactors']);
  const depositor = nodes.depositorOver(await nodes.register(node), node);
  const { faults } = nodes.double;
  faults.set('append', NO_FAULT); // the reservation of its id
  faults.set('append', { kind: 'commit and hang' });
  await depositor.deposit(0);
  for (let times = 0; times < 200; times += 1) {
    faults.set('append', { kind: 'commit and refuse', code: status.ABORTED });
    faults.set('append', NO_FAULT);
  }
  await depositSome(depositor, 8);
  t.is(depositor.unavailable, 0);
  t.deepEqual(await nodes.outcome(depositor, node), ALL_HELD);
});

test('a committed append answered with 503 leaves an unseen deposit, and the repetition creates another', async (t) => {
  await using nodes = await DistributedNodes.start({ callTimeout: 1500, retryTimeout: 1500 });
  const node = await nodes.add(['http', 'reactors']);
  const alice = await nodes.register(node);
  const depositor = nodes.depositorOver(alice, node);
  nodes.double.faults.set('append', NO_FAULT); // the reservation of its id
  nodes.double.faults.set('append', { kind: 'commit and hang' }, Number.POSITIVE_INFINITY);
  const refused = await alice.post('/1/software/', helloForm, formType);
  t.is(refused.status, 503);
  t.truthy(refused.headers.get('retry-after'));
  t.notRegex(await refused.text(), /stored|kept/, 'the outcome is unknown');
  depositor.refused.add(refused.headers.get('x-request-id') ?? '');
  nodes.double.faults.clear();
  t.is(await depositor.deposit(0), '2');
  t.is(await depositor.finalStatus(node.url, '1', Infinity), 'done');
  t.deepEqual(await nodes.outcome(depositor, node), { ...ALL_HELD, orphans: ['1'] });
});

test('dropped subscriptions and a missing leader lose no deposit', async (t) => {
  await using nodes = await DistributedNodes.start();
  const [one, other] = [await nodes.add(['http']), await nodes.add(['http'])];
  const reactors = [await nodes.add(['reactors']), await nodes.add(['reactors'])];
  const depositor = nodes.depositorOver(await nodes.register(one, other), one, other);
  const depositing = depositSome(depositor, 16);
  for (let times = 0; times < 10; times += 1) {
    nodes.double.dropSubscriptions(times % 2 === 0 ? 'error' : 'silent end');
    await pause(40);
  }
  for (const call of ['append', 'read', 'subscribe', 'consume', 'createGroup'] as const) {
    nodes.double.faults.set(call, { kind: 'not leader' }, 12);
  }
  nodes.double.dropSubscriptions();
  await depositing;
  t.deepEqual(await nodes.outcome(depositor, one, other), ALL_HELD);
  await becomeReady(t, [one, other, ...reactors]);
});

test('while the log is down requests get 503 and nodes are not ready; afterwards they recover', async (t) => {
  await using nodes = await DistributedNodes.start({ callTimeout: 3000, retryTimeout: 500 });
  const [one, other] = [await nodes.add(['http']), await nodes.add(['http'])];
  const reactors = await nodes.add(['reactors']);
  const depositor = nodes.depositorOver(await nodes.register(one, other), one, other);
  const depositing = depositSome(depositor, 16);
  await until(async () => depositor.acknowledged.size >= 4);
  nodes.double.stop();
  for (const { url } of [one, other, reactors]) {
    const ready = await fetch(`${url}/health/ready`);
    t.is(ready.status, 503);
    t.regex(await ready.text(), /not ready: .*event log: /);
    t.is((await fetch(`${url}/health/live`)).status, 200);
  }
  const asked = await (await OperatedService.find(reactors.folder))?.state();
  t.like(asked, { reactors: [{ name: 'checker', delivery: null }] }, 'for commands it is there all the same');
  await until(async () => depositor.unavailable >= 2);
  await nodes.double.listen();
  await depositing;
  // An append may have been committed when its answer was lost: the result is an orphan, and no double.
  const { orphans, ...outcome } = await nodes.outcome(depositor, one, other);
  t.deepEqual({ ...outcome, orphans: [] }, ALL_HELD);
  t.true(orphans.length <= depositor.refused.size);
  await becomeReady(t, [one, other, reactors]);
});

/** An archive whose listing is too long for the checker to load it at once. */
const archiveOfManyNames = tarOf(
  Array.from({ length: 600 }, (_, file) => ({ name: `${'a'.repeat(90)}${file}`, data: '' })),
);

test('a deposit whose loading node was killed is loaded by another node, once', async (t) => {
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http']);
  const depositor = nodes.depositorOver(await nodes.register(node), node);
  const settings = { ...nodes.settings, DEPOSIT_ROLES: 'reactors' };
  const killed = await ServiceProcess.start(await temporaryFolder(t), await freePort(), settings);
  t.teardown(() => killed.end('SIGKILL'));
  const types = () => nodes.double.log.stream('deposit-1').map(({ type }) => type);
  const death = Promise.withResolvers<void>();
  nodes.double.log.onAppended(() => {
    // Before the server has even answered: the load has only begun.
    if (types().at(-1) === 'LoadingStarted') void killed.end('SIGKILL').then(() => death.resolve());
  });
  await depositor.deposit(0, archiveOfManyNames);
  await death.promise;
  await until(async () => nodes.double.groups.get('reactors')?.consumers === 0);
  t.is(types().at(-1), 'LoadingStarted');
  await until(async () => (await depositor.status(node.url, '1')) === 'loading');

  await nodes.add(['reactors']);
  t.deepEqual(await nodes.outcome(depositor, node), ALL_HELD);
  t.is(types().filter((type) => type === 'LoadingStarted').length, 1);
});

/** Deposits with four writers at the same time. */
async function depositSome(depositor: RetryingDepositor, count: number): Promise<void> {
  const turns = Array.from({ length: count }, (_, turn) => turn).values();
  const write = async (): Promise<void> => {
    for (const turn of turns) await depositor.deposit(turn);
  };
  await Promise.all([write(), write(), write(), write()]);
}

async function becomeReady(t: ExecutionContext, nodes: readonly RunningService[]): Promise<void> {
  for (const { url } of nodes) await until(async () => (await fetch(`${url}/health/ready`)).ok);
  t.pass();
}
