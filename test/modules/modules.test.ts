import test from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { MODULES } from '../../src/modules/modules.ts';
import { startService } from '../../src/service/service.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { final, formType, helloForm } from '../../testing/http/deposit-bodies.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';
import { deposit } from '../../testing/service/notified-service.ts';
import { Fixture } from '../upgrade/fixture.ts';
import { unpackInto } from '../upgrade/fixture-archive.ts';

const fixture = new Fixture('a4b3938', 'embedded');
const { deposits, password } = fixture.expected;
const before = deposits.find(({ label }) => label === 'zip');

/** A path that a service without the module does not have, or a request that it refuses. */
const ABSENT: Readonly<Record<string, string>> = {
  'resumable-uploads': '/1/COLLECTION/uploads/',
  'status-events': '/1/COLLECTION/events/',
  webhooks: '/1/COLLECTION/notifications/',
};

for (const { name } of MODULES) {
  test(`without ${name} a service starts, serves, verifies and rebuilds all stored data`, async (t) => {
    if (!before) throw new Error('The fixture has no deposit “zip”.');
    const folder = await temporaryFolder(t);
    await unpackInto(folder, fixture.read('data.tar.gz'));
    const config = readConfig({ DEPOSIT_PORT: '0', DEPOSIT_DATA_DIR: folder });
    const modules = MODULES.filter((module) => module.name !== name);
    const service = await startService(config, { logger: silentLogger, modules });
    try {
      await service.ready;
      const client = new TestClient(service.url, before.client, password);
      const { collection, depositId } = before;
      t.is((await client.get(`/1/${collection}/${depositId}/status/`)).status, 201);
      const created = await client.post(`/1/${collection}/`, helloForm, { ...formType, ...final });
      t.is(created.status, 201, await created.text());
      const edit = new URL(created.headers.get('Location') ?? '', service.url).pathname;
      await client.waitFor(edit.replace('metadata', 'status'), 'done');
      const described = (await (await client.get('/openapi.json')).json()) as { paths: object };
      t.is(JSON.stringify(described).includes('dry-run'), name !== 'dry-run');
      const absent = ABSENT[name]?.replace('COLLECTION', collection);
      if (absent !== undefined) t.is((await client.get(absent)).status, 404, absent);
      if (name === 'dry-run') {
        const dry = await client.post(`/1/${collection}/?dry-run=true`, helloForm, { ...formType, ...final });
        t.is(dry.status, 400);
      }
    } finally {
      await service[Symbol.asyncDispose]();
    }
    for (const command of [
      ['verify', '--all'],
      ['rebuild', '--all'],
      ['rebuild', '--all', '--check'],
    ] as const) {
      const [script, ...args] = command;
      const ran = await runScript(folder, script, args);
      t.is(ran.code, 0, `${command.join(' ')}: ${ran.out}${ran.err}`);
    }
  });
}

test('without webhooks a node on EventStoreDB checks and loads deposits', async (t) => {
  await using nodes = await DistributedNodes.start();
  const alice = await nodes.register(await nodes.add(['http']));
  const id = await deposit(alice, 'software');
  const own = readConfig({ DEPOSIT_PORT: '0', DEPOSIT_DATA_DIR: await temporaryFolder(t) });
  const config = { ...own, ...nodes.enginesAt(), roles: ['reactors'] as const };
  const modules = MODULES.filter(({ name }) => name !== 'webhooks');
  await using service = await startService(config, { logger: silentLogger, modules });
  await service.ready;
  t.regex(await alice.waitFor(`/1/software/${id}/status/`, 'done'), /<deposit_swh_id>swh:1:dir:/);
});
