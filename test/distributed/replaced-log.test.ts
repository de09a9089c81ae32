import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { EventStoreDbDouble } from '../../testing/eventstoredb-double/eventstoredb-double.ts';
import { writeDump } from '../../testing/eventstoredb-double/storage/log-dump.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';

test('a node whose log went back to an older copy ends, and its next start shows what the log has', async (t) => {
  await using nodes = await DistributedNodes.start();
  const { double } = nodes;
  const node = await nodes.add(['http', 'reactors']);
  const alice = await nodes.register(node);
  const depositor = nodes.depositorOver(alice, node);
  t.is(await depositor.deposit(0), '1');
  t.is(await depositor.finalStatus(node.url, '1', Infinity), 'done');
  const copy = path.join(await temporaryFolder(t), 'copy.jsonl');
  await writeDump(double.log, copy);
  t.is(await depositor.deposit(0), '2');

  double.stop();
  await using _older = await EventStoreDbDouble.start({ port: double.port, compresses: false, load: copy });
  const bob = await nodes.add(['http']).then((other) => other.register('bob', { collections: ['other'] }));
  const unready = until(async () => {
    const answer = await fetch(`${node.url}/health/ready`);
    return (await answer.text()).includes('views: Following the event log failed: it lacks the last event');
  });
  await t.throwsAsync(node.service.failed, {
    code: 'EVENT_LOG_RESTORED',
    message: /^The event log does not have event \S+ at revision \d+ of \S+, which this node has seen: /,
  });
  await unready;
  await node.stop();
  await node.startAgain();
  t.is(await depositor.status(node.url, '1'), 'done');
  t.is(await depositor.status(node.url, '2'), undefined);
  t.is((await bob.get(`${node.url}/1/servicedocument/`)).status, 200, 'what was appended since');
});

test('no node goes on, and no command appends, on an empty log in the place of its own', async (t) => {
  await using nodes = await DistributedNodes.start();
  const { double } = nodes;
  const node = await nodes.add(['http', 'reactors']);
  await nodes.register(node);

  double.stop();
  await using _empty = await EventStoreDbDouble.start({ port: double.port, compresses: false });
  await t.throwsAsync(node.service.failed, { code: 'EVENT_LOG_RESTORED' });
  await node.stop();
  await t.throwsAsync(node.startAgain(), { code: 'OTHER_STORE', message: /belongs to no archive store yet/ });
  const refused = await runScript(node.folder, 'collection', ['add', 'other'], { env: nodes.settings });
  t.is(refused.code, 1, refused.out);
  t.regex(refused.err, /^The event log at .* belongs to no service yet/);
});

test('commands append to a log of 0.1.0, before a service of this release binds it to a store', async (t) => {
  await using nodes = await DistributedNodes.start();
  const { double } = nodes;
  const node = await nodes.add(['http', 'reactors']);
  await nodes.register(node);
  await node.stop();
  const copy = path.join(await temporaryFolder(t), 'copy.jsonl');
  await writeDump(double.log, copy);
  const lines = (await readFile(copy, 'utf8'))
    .split('\n')
    .filter((line) => !/"stream":"(?:archive-store|nodes)"/.test(line));
  await writeFile(copy, lines.join('\n'));
  double.stop();
  await using _unbound = await EventStoreDbDouble.start({ port: double.port, compresses: false, load: copy });
  const added = await runScript(node.folder, 'collection', ['add', 'other'], { env: nodes.settings });
  t.is(added.code, 0, added.err);
  const rebuilt = await runScript(node.folder, 'rebuild', ['--all'], { env: nodes.settings });
  t.is(rebuilt.code, 0, rebuilt.err);
});
