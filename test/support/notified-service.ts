import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Config } from '../../src/config.ts';
import type { NotificationSettings } from '../../src/notifications/notification-settings.ts';
import { WebhookKey } from '../../src/notifications/webhook-key.ts';
import { archivePart, entryPart, final, formOf, formType } from './deposit-bodies.ts';
import { RunningService, type TestClient } from './running-service.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const HOUR = 3_600_000;
/** Pauses of a test's length, and receivers on this machine. */
const HASTY = { allowPrivate: true, giveUpAfter: 72 * HOUR, firstPause: 20, longestPause: 200 };
const whole = new Uint8Array(formOf([archivePart(), entryPart()]));

/** The statuses of a deposit that is good. */
export const WAY = ['partial', 'deposited', 'verified', 'loading', 'done'] as const;

/** A service that notifies at once, and receivers on this machine. */
export async function notifiedService(
  settings: Partial<NotificationSettings> = {},
): Promise<{ readonly service: RunningService; readonly keyFile: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deposit-'));
  const keyFile = path.join(folder, 'keys', 'webhook.key');
  const webhooks: Config['webhooks'] = { ...HASTY, keyFile, ...settings };
  return { service: await RunningService.startIn(folder, { webhooks }), keyFile };
}

/** Where a key of webhooks may be kept for as long as a test runs. */
export async function temporaryKey(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'webhook-key-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return path.join(folder, 'webhook.key');
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

/** Makes a deposit that is good; its id. */
export async function deposit(
  client: TestClient,
  collection: string,
  progress: Record<string, string> = final,
): Promise<number> {
  const answer = await client.post(`/1/${collection}/`, whole, { ...formType, ...progress });
  return Number(/<deposit_id>(\d+)</.exec(await answer.text())?.[1]);
}
