import path from 'node:path';
import { CommandLineDepositor } from '../support/deposit-command.ts';
import type { RunningService } from '../support/running-service.ts';

let users = 0;

/** Somebody of their own, so that nobody else's deposits are counted. */
export async function somebody(service: RunningService, home: string, url = service.url) {
  const user = `user${(users += 1)}`;
  await service.register(user, { collections: ['software'] });
  const configuration = { XDG_CONFIG_HOME: path.join(home, user) };
  return new CommandLineDepositor(home, { url, user, password: 'secret' }, configuration);
}

/** Streams of the deposits that somebody has made. */
export async function depositsOf({ service }: RunningService, { user }: CommandLineDepositor) {
  const streams: string[] = [];
  for await (const { type, stream, data } of service.log.readAll({ streamPrefixes: ['deposit-'] })) {
    if (type === 'DepositCreated' && data['client'] === user) streams.push(stream);
  }
  return streams;
}
