import test, { type ExecutionContext } from 'ava';
import { ServiceProcess } from '../../drills/service/service-process.ts';
import { type EventLog, EventLogUnavailable, type RecordedEvent } from '../../src/event-log/event-log.ts';
import { confirmations } from '../../src/service/nodes/confirmations.ts';
import { NodePresence } from '../../src/service/nodes/node-presence.ts';
import { appendNodeEvent, askNodes, NODES, registeredNodes } from '../../src/service/nodes/node-stream.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { jsonLines, type Ran, runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';
import type { RunningService } from '../../testing/service/running-service.ts';

const PASSWORD = 'correct horse battery';

async function login(url: string, client: string): Promise<number> {
  const credentials = Buffer.from(`${client}:${PASSWORD}`).toString('base64');
  const answer = await fetch(`${url}/1/servicedocument/`, {
    headers: { Authorization: `Basic ${credentials}` },
  });
  return answer.status;
}

function addClient({ settings }: DistributedNodes, folder: string, client: string): Promise<Ran> {
  const options = { env: settings, input: PASSWORD };
  return runScript(folder, 'client', ['add', client, '--password-stdin'], options);
}

/** Resolves to the name of the node with this data folder once it is registered: on a busy machine after it is ready. */
async function nameOf({ service }: RunningService, folder: string): Promise<string> {
  let found: string | undefined;
  await until(async () => {
    const { nodes } = await registeredNodes(service.log);
    found = nodes.find((name) => name.endsWith(`:${folder}`));
    return found !== undefined;
  });
  return found as string; // awaited
}

test('a client added by a command can log in at once on every node, whichever command is first', async (t) => {
  await using nodes = await DistributedNodes.start();
  const running = [await nodes.add(['http', 'reactors']), await nodes.add(['http'])];
  const elsewhere = await temporaryFolder(t); // commands need no service on their data folder
  const names = ['alice', 'bob', 'carol'];
  await Promise.all(
    names.map(async (name) => {
      const added = await addClient(nodes, elsewhere, name);
      t.deepEqual([added.code, added.err], [0, '']);
      t.deepEqual(await Promise.all(running.map(({ url }) => login(url, name))), [200, 200], name);
    }),
  );
});

test('a collection opened or described by a command is known on every node', async (t) => {
  await using nodes = await DistributedNodes.start();
  const [node, other] = [await nodes.add(['http']), await nodes.add(['http'])];
  const alice = await nodes.register(node, other);
  for (const { folder } of [node, other]) await nameOf(node, folder);
  for (const args of [
    ['add', 'papers'],
    ['set', 'software', '--title', 'Paint & co'],
  ]) {
    const { code, err } = await runScript(node.folder, 'collection', args, { env: nodes.settings });
    t.deepEqual([code, err], [0, '']);
  }
  const events = await Array.fromAsync(node.service.log.readStream(NODES));
  const asked = events.filter(({ type }) => type === 'ConfirmationAsked');
  t.deepEqual(
    asked.map(({ data }) => (data['nodes'] as string[]).length),
    [2, 2],
    'each command waits for both',
  );
  for (const { url } of [node, other])
    t.regex(await (await alice.get(`${url}/1/servicedocument/`)).text(), />Paint &amp; co</);
});

test('a paused node is named, confirms when it resumes, and is no longer asked once it has stopped', async (t) => {
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http']);
  const folder = await temporaryFolder(t);
  await using other = await ServiceProcess.start(folder, await freePort(), nodes.settings);
  const name = await nameOf(node, folder);
  const command = (...args: readonly string[]): Promise<Ran> =>
    runScript(node.folder, 'nodes', args, { env: nodes.settings });

  other.signal('SIGSTOP');
  const added = await addClient(nodes, node.folder, 'alice');
  t.deepEqual(
    [added.code, added.err],
    [
      0,
      `The change is recorded. Node ${name} has not confirmed within 5 s that it is in effect. If it is gone for good: deposit-service nodes forget '${name}'\n`,
    ],
  );
  t.is(await login(node.url, 'alice'), 200);
  const listed = await command('list', '--json');
  t.is(listed.code, 1);
  t.deepEqual(jsonLines(listed.out), [
    { node: await nameOf(node, node.folder), confirmed: true },
    { node: name, confirmed: false },
  ]);

  other.signal('SIGCONT');
  await until(async () => (await command('list')).code === 0);
  t.is(await login(other.url, 'alice'), 200);
  t.is(await other.end('SIGTERM'), 0);
  t.deepEqual(await confirmations(node.service.log), new Map([[await nameOf(node, node.folder), true]]));
});

test('a killed node is named until it restarts under its name or an operator removes it', async (t) => {
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http']);
  const { log } = node.service;
  const gone = 'gone:/data';
  const start = () => appendNodeEvent(log, { type: 'NodeStarted', data: { node: gone } });
  const command = (...args: readonly string[]): Promise<Ran> =>
    runScript(node.folder, 'nodes', args, { env: nodes.settings });
  await start();
  t.false((await confirmations(log, 100)).get(gone));
  t.false((await confirmations(log, 100)).get(gone), 'for every call');
  const asking = confirmations(log, 60_000);
  await until(async () => {
    const events = await Array.fromAsync(log.readStream(NODES));
    const third = events.filter(({ type }) => type === 'ConfirmationAsked')[2]?.revision ?? Infinity;
    return events.some(({ type, data }) => type === 'NodeConfirmed' && Number(data['upTo']) >= third);
  });
  await start();
  t.true((await asking).get(gone), 'it serves clients only with current views');

  const forgotten = await command('forget', gone);
  t.deepEqual([forgotten.code, forgotten.out], [0, `The node ${gone} is forgotten.\n`]);
  t.false((await confirmations(log)).has(gone));
  const again = await command('forget', gone);
  t.deepEqual(
    [again.code, again.err],
    [1, `No node ${gone} is registered. "deposit-service nodes list" lists them.\n`],
  );

  const own = await nameOf(node, node.folder);
  await command('forget', own);
  t.is((await command('list')).out, 'No node is registered.\n');
  await appendNodeEvent(log, { type: 'NodeStarted', data: { node: gone } });
  await confirmations(log, 100);
  await until(async () => (await registeredNodes(log)).nodes.includes(own)); // it has answered
  t.pass();
});

test('a node does not start under the name of one that runs, and starts under the name of one that was killed', async (t) => {
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http']);
  const { log } = node.service;
  const own = await nameOf(node, node.folder);
  const projector = { follow: () => undefined, listen: () => () => undefined };
  const presenceOf = (name: string) =>
    new NodePresence({ log, projector, logger: silentLogger, node: name, fail: () => undefined });
  const refused = presenceOf(own);
  await t.throwsAsync(refused.start(), {
    code: 'NODE_NAME_IN_USE',
    message: `Another node called ${own} runs on this event log. Give each node a host name or a DEPOSIT_DATA_DIR of its own.`,
  });
  const startsOf = async (name: string) => {
    const events = await Array.fromAsync(log.readStream(NODES));
    return events.filter(({ type, data }) => type === 'NodeStarted' && data['node'] === name).length;
  };
  await refused[Symbol.asyncDispose]();
  t.is(await startsOf(own), 1);
  t.true((await registeredNodes(log)).nodes.includes(own), 'the one that runs stays registered');

  const gone = 'gone:/data';
  await appendNodeEvent(log, { type: 'NodeStarted', data: { node: gone } });
  await using presence = presenceOf(gone);
  await presence.start();
  t.is(await startsOf(gone), 2);
});

test('a node whose registration was recorded without an answer registers again, and does not confirm to itself', async (t) => {
  await using nodes = await DistributedNodes.start();
  const { log } = (await nodes.add(['http'])).service;
  const stop = new AbortController();
  t.teardown(() => stop.abort());
  const projector = {
    follow: () => undefined,
    listen: (see: (events: readonly RecordedEvent[]) => void) => {
      void (async () => {
        for await (const message of log.subscribe({ streamPrefixes: [NODES], signal: stop.signal }))
          if (message.kind === 'events') see(message.events);
      })();
      return () => undefined;
    },
  };
  let failures = 0;
  const append: EventLog['append'] = async (...what) => {
    const appended = await log.append(...what);
    failures += 1;
    if (failures === 1) throw new EventLogUnavailable('No answer.');
    return appended;
  };
  const unanswered = Object.assign(Object.create(log) as EventLog, {
    append,
    readStream: log.readStream.bind(log),
    subscribe: log.subscribe.bind(log),
  });
  const [node, fail] = ['new:/data', (error: unknown) => t.fail(String(error))];
  await using presence = new NodePresence({
    log: unanswered,
    projector,
    logger: silentLogger,
    node,
    fail,
  });
  await presence.start();
  const events = await Array.fromAsync(log.readStream(NODES));
  t.is(events.filter(({ type, data }) => type === 'NodeStarted' && data['node'] === node).length, 2);
});

test('a node ends when another one has started under its name, which stays registered', async (t) => {
  await using nodes = await DistributedNodes.start();
  const [node, other] = [await nodes.add(['http']), await nodes.add(['http'])];
  const { log } = other.service;
  const own = await nameOf(node, node.folder);
  await appendNodeEvent(log, { type: 'NodeStarted', data: { node: own } });
  await t.throwsAsync(node.service.failed, { code: 'NODE_NAME_IN_USE' });
  await node.stop();
  t.true((await registeredNodes(log)).nodes.includes(own));
});

test('a confirmation request names exactly the nodes registered before it', async (t) => {
  await using nodes = await DistributedNodes.start();
  const { service } = await nodes.add(['http']);
  const { log } = service;
  const names = Array.from({ length: 8 }, (_, index) => `node-${index}:/data`);
  const asked = await Promise.all(
    names.map(async (node) => {
      await appendNodeEvent(log, { type: 'NodeStarted', data: { node } });
      return await askNodes(log);
    }),
  );
  const events = await Array.fromAsync(log.readStream(NODES));
  for (const [index, question] of asked.entries()) {
    const started = events.filter(
      ({ type, revision }) => type === 'NodeStarted' && revision < (question?.revision ?? 0),
    );
    t.deepEqual(new Set(question?.nodes), new Set(started.map(({ data }) => data['node'])), names[index]);
  }
});

test('an embedded log has no list of nodes: its commands ask the service of the data folder', async (t) => {
  const { code, err } = await runScript(await temporaryFolder(t), 'nodes', ['list']);
  t.is(code, 1);
  t.regex(
    err,
    /^The event log is embedded, so there is one node: "deposit-service status" reports how it is\.$/m,
  );
});

test('the stream of nodes is verified like every other stream', async (t) => {
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http', 'reactors']);
  const added = await addClient(nodes, node.folder, 'alice');
  t.is(added.code, 0);
  await verified(t, nodes, node);
  await node.stop();
  const rest = await nodes.add(['http']);
  const types = (await Array.fromAsync(rest.service.log.readStream(NODES))).map(({ type }) => type);
  t.deepEqual(types, ['NodeStarted', 'ConfirmationAsked', 'NodeConfirmed', 'NodeStopped', 'NodeStarted']);
});

async function verified(t: ExecutionContext, { settings }: DistributedNodes, { folder }: RunningService) {
  const { code, out } = await runScript(folder, 'verify', ['--all'], { env: settings });
  t.is(code, 0, out);
}
