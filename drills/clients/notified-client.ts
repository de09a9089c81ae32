import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { WebhookKey } from '../../src/modules/webhooks/webhook-key.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import type { WebhookReceiver } from '../../testing/service/webhook-receiver.ts';
import { DRILL_PASSWORD, registerIn } from '../service/drilled-service.ts';

/** Registers the client `drill`, whose webhook is the receiver. */
export async function registerNotified(
  settings: Readonly<Record<string, string>>,
  { url, secret }: Pick<WebhookReceiver, 'url' | 'secret'>,
): Promise<void> {
  const config = readConfig(settings);
  const key = await WebhookKey.make(config.webhooks.keyFile);
  await using log = await openLog(config);
  await registerIn(log, 'drill', DRILL_PASSWORD);
  const administration = new AdminCommands(log, { kind: 'operator', name: 'drill' });
  const sealed = key.seal(secret, 'drill');
  await administration.client({ type: 'SetWebhook', client: 'drill', url, secret: sealed });
}
