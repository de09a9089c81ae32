import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import anyTest, { type TestFn } from 'ava';
import type { Config } from '../../src/config/config.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { CommandLineDepositor } from '../../testing/processes/deposit-command.ts';
import { RunningService } from '../../testing/service/running-service.ts';

export type CommandContext = {
  readonly service: RunningService;
  readonly alice: TestClient;
  readonly depositor: CommandLineDepositor;
  readonly home: string;
};

/**
 * Returns a function that declares tests of one service, and of its client alice with these files in her home folder:
 * they exist from before the first test until after the last.
 */
export function testOfCommands(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  settings: Partial<Config> = {},
): TestFn<CommandContext> {
  const test = anyTest as TestFn<CommandContext>;
  test.before(async (t) => {
    const service = await RunningService.start(settings);
    const alice = await service.register('alice', { collections: ['software'] });
    const home = await mkdtemp(path.join(tmpdir(), 'depositor-'));
    for (const [name, data] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(home, name)), { recursive: true });
      await writeFile(path.join(home, name), data);
    }
    const login = { url: service.url, user: 'alice', password: 'secret' };
    t.context = { service, alice, depositor: new CommandLineDepositor(home, login), home };
  });
  test.after.always(async (t) => {
    await t.context.service[Symbol.asyncDispose]();
    await rm(t.context.home, { recursive: true, force: true });
  });
  return test;
}
