import path from 'node:path';
import { CommandLineDepositor } from '../../testing/processes/deposit-command.ts';
import type { RunningService } from '../../testing/service/running-service.ts';

let users = 0;

/** Registers a new depositor, whose deposits can be counted. */
export async function newDepositor(service: RunningService, home: string, url = service.url) {
  const user = `user${(users += 1)}`;
  await service.register(user, { collections: ['software'] });
  const configuration = { XDG_CONFIG_HOME: path.join(home, user) };
  return new CommandLineDepositor(home, { url, user, password: 'secret' }, configuration);
}

/** Resolves to the streams of the depositor's deposits. */
export async function depositsOf({ service }: RunningService, { user }: CommandLineDepositor) {
  const streams: string[] = [];
  for await (const { type, stream, data } of service.log.readAll({ streamPrefixes: ['deposit-'] })) {
    if (type === 'DepositCreated' && data['client'] === user) streams.push(stream);
  }
  return streams;
}
