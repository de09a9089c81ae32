import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { handleCommand } from '../../src/deposits/command-handler.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import { startService } from '../../src/service/service.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { final, formType, helloForm, partial } from '../../testing/http/deposit-bodies.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { EnteredFiles } from '../../testing/processes/entered-files.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { QUICK_COST, quickCredential } from '../../testing/service/secret-password.ts';

const root = path.join(import.meta.dirname, '..', '..');
const page = readFileSync(path.join(root, 'docs', 'architecture.md'), 'utf8');

/** The three ways of docs/architecture.md, and the most files that each may have. */
const WAYS = { 'A create': 25, 'A status request': 12, 'An event': 20 } as const;

/** Times that each way is gone: a timer may run during one of them, not during all. */
const TIMES = 4;

/** Returns the files of a way in their order: the numbered items of its section. */
function filesOf(way: keyof typeof WAYS): string[] {
  const [, section = ''] = page.split(`\n### ${way}\n`);
  const [items = ''] = section.split('\n#', 1);
  return [...items.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = '']) => file);
}

/** Returns whether a file leads nowhere: it needs no code of other rooms but tools, and the error of the interface. */
function isLeaf(file: string): boolean {
  const source = readFileSync(path.join(root, file), 'utf8');
  const imports = source.matchAll(/^import (?!type)(?<names>[^;]*?) from '(?<from>\.[^']+)';$/gm);
  return imports.every(({ groups: { names = '', from = '' } = {} }) => {
    const target = path.relative(root, path.resolve(root, path.dirname(file), from));
    const areTypes = names
      .replace(/[{}]/g, '')
      .split(',')
      .every((name) => /^\s*(type .*)?$/s.test(name));
    return areTypes || target.startsWith('src/tools/') || roomOf(target) === roomOf(file) || target === ERROR;
  });
}

const ERROR = 'src/sword/sword-error.ts';

function roomOf(file: string): string {
  const [first = '', second = ''] = file.split('/');
  return first === 'src' ? second : first;
}

for (const [way, most] of Object.entries(WAYS)) {
  test(`the way of ${way.toLowerCase()} has at most ${most} files, each once`, (t) => {
    const files = filesOf(way as keyof typeof WAYS); // the keys of the table
    t.true(files.length > 5 && files.length <= most, `${files.length} files`);
    t.is(new Set(files).size, files.length);
    t.deepEqual(
      files.filter((file) => !existsSync(path.join(root, file)) || isLeaf(file)),
      [],
      'files that are missing or that lead nowhere',
    );
  });
}

test('a create, a status request and an event enter only the files of their ways and leaves', async (t) => {
  using entered = await EnteredFiles.start();
  const folder = await temporaryFolder(t);
  const config = {
    ...readConfig({ DEPOSIT_PORT: '0', DEPOSIT_DATA_DIR: folder }),
    passwordCost: QUICK_COST,
  };
  await using service = await startService(config, { logger: silentLogger, modules: [] });
  await service.ready;
  const administration = new AdminCommands(service.log, { kind: 'operator', name: 'test' });
  await administration.client({ type: 'RegisterClient', client: 'alice', credential: quickCredential });
  await administration.grant('alice', 'software');
  const alice = new TestClient(service.url, 'alice');
  await until(async () => (await alice.get('/1/software/')).ok);
  const create = async (headers: Readonly<Record<string, string>>): Promise<number> => {
    const created = await alice.post('/1/software/', helloForm, { ...formType, ...headers });
    t.is(created.status, 201, await created.text());
    return Number(created.headers.get('Location')?.split('/').at(-3));
  };
  const complete = async (depositId: number): Promise<void> => {
    const now = new Date().toISOString();
    const actor = { kind: 'operator', name: 'test' } as const;
    const context = { commandId: randomUUID(), actor, now, correlationId: randomUUID() };
    await handleCommand(
      service.log,
      deposits,
      depositId,
      { type: 'CompleteDeposit', depositId, now },
      context,
    );
    const isLoaded = async () =>
      (await Array.fromAsync(service.log.readStream(`deposit-${depositId}`))).at(-1)?.type ===
      'DepositLoaded';
    await until(isLoaded);
  };
  /** Resolves to the files that are entered each time, and those that are entered at all. */
  const go = async (step: () => Promise<unknown>) => {
    const [each, all] = [new Map<string, number>(), new Set<string>()];
    for (let time = 0; time < TIMES; time += 1) {
      await entered.take();
      await step();
      for (const file of await entered.take()) {
        if (!/^(src|projections)\//.test(file)) continue;
        each.set(file, (each.get(file) ?? 0) + 1);
        all.add(file);
      }
    }
    return { always: [...each].filter(([, times]) => times === TIMES).map(([file]) => file), all };
  };
  const first = await create(final);
  await until(async () =>
    (await (await alice.get(`/1/software/${first}/status/`)).text()).includes('>done<'),
  );

  const partials: number[] = [];
  const created = await go(async () => partials.push(await create(partial)));
  const waiting = partials.values();
  const event = await go(() => complete(waiting.next().value ?? 0));
  let times = 0; // a document that is in the cache has no way
  const status = await go(async () =>
    (await alice.get(`/1/software/${first}/status/?${(times += 1)}`)).text(),
  );

  for (const [way, { always, all }, further] of [
    ['A create', created, filesOf('An event')], // of a deposit that is created, too
    ['A status request', status, []],
    ['An event', event, []],
  ] as const) {
    const listed = filesOf(way);
    t.deepEqual(
      always.filter((file) => ![...listed, ...further].includes(file) && !isLeaf(file)),
      [],
      `${way}: files that the page does not list`,
    );
    t.deepEqual(
      listed.filter((file) => !all.has(file)),
      [],
      `${way}: files that are listed and not entered`,
    );
  }
});
