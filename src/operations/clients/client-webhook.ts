import { text } from 'node:stream/consumers';
import {
  type UndeliveredNotifications,
  undeliveredNotifications,
} from '../../../projections/undelivered-notifications.ts';
import type { Config } from '../../config/config.ts';
import type { AdminCommands } from '../../deposits/admin-commands.ts';
import { readState } from '../../deposits/command-handler.ts';
import { clients } from '../../domain/aggregates.ts';
import type { Client } from '../../domain/client/client.ts';
import { Refusal } from '../../domain/decider.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import { assertReachable } from '../../modules/webhooks/receiver-address.ts';
import { generateSecret, isSecret } from '../../modules/webhooks/signature.ts';
import { WebhookKey } from '../../modules/webhooks/webhook-key.ts';
import { openView } from '../../service/backends/open-view.ts';
import { clock } from '../../tools/clock.ts';
import { refused, UsageError } from '../command/command.ts';
import { isInside } from '../command/is-inside.ts';
import { jsonLine, say, warn } from '../command/output.ts';
import { depositsOfView } from '../deposits/deposits-of-view.ts';

export type WebhookOptions = {
  readonly off?: boolean | undefined;
  readonly failures?: boolean | undefined;
  readonly retry?: boolean | undefined;
  readonly json?: boolean | undefined;
  readonly 'secret-stdin'?: boolean | undefined;
};

type Registered = Exclude<Client, { status: 'unknown' }>;

type Parts = {
  readonly administration: AdminCommands;
  readonly config: Config;
  readonly log: EventLog;
};

/**
 * Implements `client webhook NAME …`: sets and removes webhooks, and manages undelivered notifications. Resolves to the
 * exit code.
 */
export async function webhook(
  { administration, config, log }: Parts,
  [client, ...more]: readonly string[],
  options: WebhookOptions,
): Promise<number | void> {
  if (client === undefined) throw new UsageError('NAME is missing.');
  const asked = [options.off, options.failures, options.retry].filter(Boolean).length;
  if (asked > 1) throw new UsageError('--off, --failures and --retry cannot be combined.');
  if (options.json && !options.failures) throw new UsageError('--json needs --failures.');
  if (options['secret-stdin'] && asked > 0) throw new UsageError('--secret-stdin needs a URL.');
  if (options.retry) {
    assertNotified(client, await registered(log, client));
    return retry(administration, config, client, more);
  }
  if (asked === 1 && more.length > 0) throw new UsageError(`Unexpected argument '${more.join(' ')}'.`);
  if (options.off) return remove(administration, client);
  if (options.failures) {
    await registered(log, client);
    return listFailures(config, client, options.json);
  }
  const [url, ...tooMany] = more;
  if (url === undefined || tooMany.length > 0) throw new UsageError('Give one URL, or --off.');
  await set(administration, config, client, url, options['secret-stdin']);
}

/** @throws {Refused} `CLIENT_UNKNOWN` */
async function registered(log: EventLog, name: string): Promise<Registered> {
  const { state } = await readState(log, clients, name);
  if (state.status === 'unknown') throw refused('CLIENT_UNKNOWN', `Client ${name} not found.`);
  return state;
}

/** Refuses a retry that would send nothing: it would only let waiting notifications expire. */
function assertNotified(name: string, { status, webhook: url }: Registered): void {
  if (url === undefined) {
    const text = `${name} has no webhook, so nothing can be sent. "deposit-service client webhook ${name} URL" sets one.`;
    throw refused('NO_WEBHOOK', text);
  }
  if (status === 'disabled') {
    const text = `${name} is disabled, so nothing can be sent. "deposit-service client enable ${name}" enables it.`;
    throw refused('CLIENT_DISABLED', text);
  }
}

async function set(
  administration: AdminCommands,
  { webhooks, eventLog, dataDir }: Config,
  client: string,
  url: string,
  fromStdin = false,
): Promise<void> {
  const address = URL.parse(url);
  if (address) await assertReachable(address, webhooks);
  if (eventLog.kind !== 'sqlite' && isInside(dataDir, webhooks.keyFile)) {
    const reason = 'the nodes that send notifications need the key that seals the secret here';
    throw refused('WEBHOOK_KEY', `Set DEPOSIT_WEBHOOK_KEY_FILE to the same key on every node: ${reason}.`);
  }
  const secret = fromStdin ? (await text(process.stdin)).trim() : generateSecret();
  if (!isSecret(secret)) {
    throw refused('BAD_SECRET', 'The secret must be "whsec_" followed by 24 to 64 bytes in base64.');
  }
  const key = await WebhookKey.make(webhooks.keyFile);
  const command = { type: 'SetWebhook', client, url, secret: key.seal(secret, client) } as const;
  const after = await administration.clientAfter(command);
  if (after.status === 'unknown') return; // refused above
  say(`${client} is notified at ${after.webhook} from now on.`);
  if (!fromStdin) say(`Secret, shown only now: ${secret}`);
}

async function remove(administration: AdminCommands, client: string): Promise<void> {
  const changed = await administration.client({ type: 'RemoveWebhook', client });
  say(changed ? `${client} is no longer notified.` : `${client} has no webhook.`);
}

/** Returns the client's deposits with waiting or expired notifications, by the views in this folder. */
function undelivered(config: Config, client: string): readonly UndeliveredNotifications[] {
  using view = openView(config, undeliveredNotifications);
  return [...depositsOfView<UndeliveredNotifications>(view, { equal: { client } })].toReversed();
}

function listFailures(config: Config, client: string, json = false): void {
  const found = undelivered(config, client);
  if (json) return found.forEach((deposit) => say(jsonLine(deposit)));
  if (found.length === 0) say(`No notification of ${client} is waiting or expired.`);
  for (const { depositId, held, givenUp, reason, attempt, dueAt } of found) {
    const waiting = held.length > 0 ? [`${held.length} wait`, triesOf(attempt, dueAt)] : [];
    const over = givenUp.length > 0 ? [`${givenUp.length} expired`] : [];
    say(`deposit ${depositId}: ${[...waiting, ...over].join(', ')}. ${reason}`);
  }
}

function triesOf(attempt: number, dueAt: string): string {
  const next = dueAt === '' ? 'due now' : `next try at ${dueAt}`;
  return attempt === 0 ? next : `${attempt} ${attempt === 1 ? 'try' : 'tries'}, ${next}`;
}

async function retry(
  administration: AdminCommands,
  config: Config,
  client: string,
  ids: readonly string[],
): Promise<number> {
  const found = undelivered(config, client);
  const wanted = ids.length === 0 ? found : ids.map((id) => named(found, client, id));
  if (wanted.length === 0) say(`No notification of ${client} is waiting or expired.`);
  let refusals = 0;
  for (const { depositId, held, givenUp } of wanted) {
    const now = clock.date().toISOString();
    try {
      await administration.notifications({ type: 'Requeue', depositId, now });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      warn(error.message); // delivered since the view was read
      refusals += 1;
      continue;
    }
    const count = held.length + givenUp.length;
    say(`deposit ${depositId}: ${count} ${count === 1 ? 'notification is' : 'notifications are'} tried now.`);
  }
  return refusals > 0 && ids.length > 0 ? 1 : 0;
}

function named(
  found: readonly UndeliveredNotifications[],
  client: string,
  id: string,
): UndeliveredNotifications {
  const one = found.find(({ depositId }) => String(depositId) === id);
  if (!one)
    throw refused(
      'NOTHING_TO_RETRY',
      `No notification of ${client} about deposit ${id} is waiting or expired.`,
    );
  return one;
}
