import { once } from 'node:events';
import { createServer } from 'node:net';
import test from 'ava';
import type { StatusFacts } from '../../src/operations/status/status-facts.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';

/** Milliseconds, on a busy machine: the server is tried for two seconds, and the reason is looked for. */
const SOON = 16_000;

test('status shows what is known while an engine is full or away, and which one that is', async (t) => {
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http', 'reactors']);
  const alice = await nodes.register(node);
  await nodes.outcome(nodes.depositorOver(alice, node), node);
  const look = async (...options: readonly string[]) => {
    const begun = performance.now();
    const { code, out, err } = await runScript(node.folder, 'status', options, { env: nodes.settings });
    t.is(code, 0, err);
    t.true(performance.now() - begun < SOON, `status took ${performance.now() - begun} ms`);
    return out;
  };
  t.like(JSON.parse(await look('--json')), { log: { note: null }, parked: [], service: { problems: [] } });

  nodes.s3.state = 'full';
  t.regex(await look(), /^ {2}not ready, archive store: The archive store .* it is full/m);
  nodes.s3.state = 'healthy';

  nodes.double.stop();
  const facts = JSON.parse(await look('--json')) as StatusFacts;
  t.like(facts, {
    service: { roles: ['http', 'reactors'] },
    log: { engine: 'eventstoredb', position: null, server: null },
    reactors: [{ name: 'checker', position: null, lag_events: null }, { name: 'loader' }],
    parked: null,
    store: { engine: 's3', is_whole: true },
  });
  t.regex(
    String(facts.log.note),
    /^eventstoredb 127\.0\.0\.1:\d+: Reading the last event failed: .*ECONNREFUSED/,
  );
  t.true(facts.views.every(({ position }) => position !== null));
  const screen = await look();
  t.regex(screen, /^Event log \(eventstoredb\): unknown\n {2}eventstoredb .* Reading the last event failed/m);
  t.regex(screen, /^Service \S+ at http:/m);
  t.regex(screen, /^Deposits: none$/m);
  t.regex(screen, /^Parked events: unknown$/m);
  await nodes.double.listen();
  t.like(JSON.parse(await look('--json')), { log: { note: null, server: { warning: null } }, parked: [] });
});

test('status shows the reason if the log stops answering while it is looked at', async (t) => {
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http']);
  await node.stop();
  nodes.double.faults.set('read', { kind: 'delay', milliseconds: 0 }); // the last event
  nodes.double.faults.set('read', { kind: 'hang' }, 1000);
  const { code, out, err } = await runScript(node.folder, 'status', ['--json'], { env: nodes.settings });
  t.is(code, 0, err);
  const { log, parked, deposits } = JSON.parse(out) as StatusFacts;
  t.regex(String(log.note), /^eventstoredb .*the server did not answer in time/);
  t.deepEqual([log.position, parked, deposits?.byStatus ?? null], [null, null, null]);
});

for (const servers of [1, 3])
  test(`status without a service does not wait for a log of ${servers} silent servers`, async (t) => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    t.teardown(() => silent.close());
    const hosts = Array(servers).fill(`127.0.0.1:${port}`).join();
    await using nodes = await DistributedNodes.start();
    const node = await nodes.add(['http']);
    await node.stop();
    const env = { ...nodes.settings, DEPOSIT_EVENT_LOG: `esdb://${hosts}?tls=false` };
    const begun = performance.now();
    const { code, out, err } = await runScript(node.folder, 'status', ['--json'], { env });
    t.is(code, 0, err);
    t.true(performance.now() - begun < SOON, `status took ${performance.now() - begun} ms`);
    t.like(JSON.parse(out), {
      service: null,
      log: { position: null },
      parked: null,
      reactors: [{ lag_events: null }],
    });
  });
