import anyTest, { type TestFn } from 'ava';
import type { Config } from '../../src/config.ts';
import { RunningService, type TestClient } from './running-service.ts';

export type ServiceWith<Name extends string> = { service: RunningService } & Record<Name, TestClient>;

type Registration = Parameters<RunningService['register']>[1];

/** What declares tests of one service and its clients: both are there before the first test, and go after the last. */
export function testOfService<Name extends string>(
  clients: Readonly<Record<Name, Registration>>,
  settings: Partial<Config> = {},
): TestFn<ServiceWith<Name>> {
  const test = anyTest as TestFn<ServiceWith<Name>>;
  test.before(async (t) => {
    const service = await RunningService.start(settings);
    t.context.service = service; // to be ended whatever comes next
    for (const [name, registration] of Object.entries<Registration>(clients))
      Object.assign(t.context, { [name]: await service.register(name, registration) });
  });
  test.after.always((t) => t.context.service[Symbol.asyncDispose]());
  return test;
}
