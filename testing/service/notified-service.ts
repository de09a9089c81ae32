import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Config } from '../../src/config/config.ts';
import type { NotificationSettings } from '../../src/modules/webhooks/notification-settings.ts';
import { WebhookKey } from '../../src/modules/webhooks/webhook-key.ts';
import { final, formType, helloForm } from '../http/deposit-bodies.ts';
import type { TestClient } from '../http/test-client.ts';
import { temporaryFolder } from '../processes/temporary-folder.ts';
import { RunningService } from './running-service.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const HOUR = 3_600_000;
/** Pauses short enough for a test, and receivers on this machine. */
const HASTY = { allowPrivate: true, giveUpAfter: 72 * HOUR, firstPause: 20, longestPause: 200 };

/** The statuses of a valid deposit. */
export const WAY = ['partial', 'deposited', 'verified', 'loading', 'done'] as const;

/** Starts a service that notifies at once, with receivers on this machine. */
export async function notifiedService(
  settings: Partial<NotificationSettings> = {},
): Promise<{ readonly service: RunningService; readonly keyFile: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deposit-'));
  const keyFile = path.join(folder, 'keys', 'webhook.key');
  const webhooks: Config['webhooks'] = { ...HASTY, keyFile, ...settings };
  return { service: await RunningService.startIn(folder, { webhooks }), keyFile };
}

/** Resolves to a file for a key of webhooks during the test. */
export async function temporaryKey(t: ExecutionContext): Promise<string> {
  return path.join(await temporaryFolder(t), 'webhook.key');
}

/** Sets the webhook of a client to a receiver. */
export async function notify(
  service: RunningService,
  client: string,
  { url, secret }: Pick<WebhookReceiver, 'url' | 'secret'>,
  keyFile: string,
): Promise<void> {
  const sealed = (await WebhookKey.make(keyFile)).seal(secret, client);
  await service.administration.client({ type: 'SetWebhook', client, url, secret: sealed });
}

/** Makes a valid deposit; resolves to its id. */
export async function deposit(
  client: TestClient,
  collection: string,
  progress: Record<string, string> = final,
): Promise<number> {
  const answer = await client.post(`/1/${collection}/`, helloForm, { ...formType, ...progress });
  return Number(/<deposit_id>(\d+)</.exec(await answer.text())?.[1]);
}
