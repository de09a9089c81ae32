import path from 'node:path';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { consoleLink } from '../../src/operations/people/console-link.ts';
import { ControlClient } from '../../src/service/operator-port/control-client.ts';
import { ConsoleSession } from '../../testing/browser/sign-in.ts';

/** Signs an operator in at the console of a running service, by a link as the command prints it. */
export async function operatorSession(dataDir: string, url: string): Promise<ConsoleSession> {
  const control = await ControlClient.find(dataDir);
  if (!control) throw new Error('The service does not answer at its operator port.');
  await using log = await SqliteEventLog.open({ file: path.join(dataDir, 'event-log.sqlite') });
  const link = await consoleLink(log, control, { kind: 'operator', name: 'bench' }, undefined);
  return await ConsoleSession.ofLink(url, link.url);
}
