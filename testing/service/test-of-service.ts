import anyTest, { type TestFn } from 'ava';
import type { Config } from '../../src/config/config.ts';
import type { TestClient } from '../http/test-client.ts';
import { RunningService } from './running-service.ts';

export type ServiceWith<Name extends string> = { service: RunningService } & Record<Name, TestClient>;

type Registration = Parameters<RunningService['register']>[1];

/**
 * Returns a function that declares tests of one service and its clients: both exist from before the first test until
 * after the last.
 */
export function testOfService<Name extends string>(
  clients: Readonly<Record<Name, Registration>>,
  settings: Partial<Config> = {},
): TestFn<ServiceWith<Name>> {
  const test = anyTest as TestFn<ServiceWith<Name>>;
  test.before(async (t) => {
    const service = await RunningService.start(settings);
    t.context.service = service; // to be ended in any case
    for (const [name, registration] of Object.entries<Registration>(clients))
      Object.assign(t.context, { [name]: await service.register(name, registration) });
  });
  test.after.always((t) => t.context.service[Symbol.asyncDispose]());
  return test;
}
