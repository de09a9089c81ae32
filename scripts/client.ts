import { text } from 'node:stream/consumers';
import { type ClientLogin, clientLogins } from '../projections/client-logins.ts';
import { clientWebhooks } from '../projections/client-webhooks.ts';
import type { Config } from '../src/config/config.ts';
import { readConfig } from '../src/config/read-config.ts';
import { AdminCommands } from '../src/deposits/admin-commands.ts';
import { clients } from '../src/domain/aggregates.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import { assertAccepted, settings, type Wanted } from '../src/operations/clients/client-settings.ts';
import { webhook } from '../src/operations/clients/client-webhook.ts';
import {
  type Actions,
  assertAction,
  assertNoPositionals,
  onlyPositional,
  readArguments,
} from '../src/operations/command/arguments.ts';
import { operator, refused, runCommand, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say } from '../src/operations/command/output.ts';
import { openLogReadOnly, openServiceLog } from '../src/operations/command/service-engines.ts';
import { untilInEffect } from '../src/operations/command/take-effect.ts';
import { credentialOf, generatePassword } from '../src/tools/cryptography/password.ts';
import { foldByKey, foldStream } from '../src/views/fold.ts';

const HELP = `Registers clients and changes their settings. The service may run.

Usage: deposit-service client add NAME [--password-stdin] [--collection C]… [--domain D] [--provider-url U]
       deposit-service client passwd NAME [--password-stdin]
       deposit-service client grant NAME COLLECTION…       creates a collection that does not exist
       deposit-service client revoke NAME COLLECTION…
       deposit-service client set NAME [--domain D] [--provider-url U]   an empty value removes it
       deposit-service client disable NAME
       deposit-service client enable NAME
       deposit-service client webhook NAME URL [--secret-stdin]   notifies of every change of status; prints a new secret
       deposit-service client webhook NAME --off
       deposit-service client webhook NAME --failures [--json]    notifications that wait for a retry, or that expired
       deposit-service client webhook NAME --retry [DEPOSIT_ID…]  sends them now
       deposit-service client show NAME [--json]
       deposit-service client list [--json]

Without --password-stdin a password is generated and printed once.
--domain        host; at least one url field of each deposit must be on it or below it
--provider-url  URL that begins the origin of each of the client's deposits
A webhook is an https URL in a public network; see docs/interface.md for what is sent and how it is signed.

Example: deposit-service client add alice --collection software --domain alice.example
`;

const ACTIONS: Actions = {
  add: ['password-stdin', 'collection', 'domain', 'provider-url'],
  passwd: ['password-stdin'],
  grant: [],
  revoke: [],
  set: ['domain', 'provider-url'],
  disable: [],
  enable: [],
  webhook: ['secret-stdin', 'off', 'failures', 'retry', 'json'],
  show: ['json'],
  list: ['json'],
};

const OPTIONS = {
  'password-stdin': { type: 'boolean' },
  collection: { type: 'string', multiple: true },
  domain: { type: 'string' },
  'provider-url': { type: 'string' },
  json: { type: 'boolean' },
  'secret-stdin': { type: 'boolean' },
  off: { type: 'boolean' },
  failures: { type: 'boolean' },
  retry: { type: 'boolean' },
} as const;

/** Arguments and dependencies of an action. */
type Task = ReturnType<typeof readArguments<typeof OPTIONS>> & {
  readonly config: Config;
  readonly log: EventLog;
  readonly administration: AdminCommands;
};

await runCommand(HELP, async ([action = '', ...rest]) => {
  const { values, positionals } = readArguments(rest, OPTIONS);
  assertAction(ACTIONS, action, values);
  if (action === 'set' && Object.keys(values).length === 0)
    throw new UsageError('Nothing to set: give --domain or --provider-url.');
  if (action === 'list') assertNoPositionals(positionals);
  const config = readConfig();
  const onlyLooks = ['show', 'list'].includes(action) || values.failures === true;
  await using log = await (onlyLooks ? openLogReadOnly : openServiceLog)(config);
  const administration = new AdminCommands(log, operator(config));
  const code = await carryOut(action, { values, positionals, config, log, administration });
  await untilInEffect(config, log, administration);
  return code;
});

async function carryOut(action: string, task: Task): Promise<number | void> {
  const { values, positionals } = task;
  switch (action) {
    case 'add':
      return add(task);
    case 'passwd':
      return changePassword(task);
    case 'grant':
    case 'revoke':
      return changeGrants(action, task);
    case 'set':
      return changeSettings(task);
    case 'disable':
      return change(task, 'DisableClient', 'disabled');
    case 'enable':
      return change(task, 'EnableClient', 'enabled');
    case 'webhook':
      return webhook(task, positionals, values);
    case 'show':
      return showOne(task);
    case 'list':
      return list(task);
  }
}

async function add({ log, administration, positionals, values }: Task): Promise<void> {
  const client = onlyPositional(positionals, 'NAME');
  const { password, generated } = await newPassword(values['password-stdin']);
  const credential = await credentialOf(password);
  const register = { type: 'RegisterClient', client, credential } as const;
  await assertAccepted(log, client, [register, ...settings(client, values)], values.collection);
  await administration.client(register);
  say(`Registered the client ${client}.`);
  if (generated) say(`Password, shown only now: ${password}`);
  await set(administration, client, values);
  await grant(administration, client, values.collection ?? []);
}

async function changePassword({ administration, positionals, values }: Task): Promise<void> {
  const name = onlyPositional(positionals, 'NAME');
  const { password, generated } = await newPassword(values['password-stdin']);
  await administration.changePassword(name, password);
  say(`Changed the password of ${name}.`);
  if (generated) say(`Password, shown only now: ${password}`);
}

async function changeGrants(
  action: 'grant' | 'revoke',
  { log, administration, positionals }: Task,
): Promise<void> {
  const [name, ...collections] = positionals;
  if (name === undefined || collections.length === 0)
    throw new UsageError(`${action} needs NAME and COLLECTION.`);
  if (action === 'revoke') return revoke(administration, name, collections);
  await assertAccepted(log, name, [], collections);
  await grant(administration, name, collections);
}

async function changeSettings({ log, administration, positionals, values }: Task): Promise<void> {
  const name = onlyPositional(positionals, 'NAME');
  await assertAccepted(log, name, settings(name, values));
  await set(administration, name, values);
}

async function showOne({ log, positionals, values }: Task): Promise<void> {
  const name = onlyPositional(positionals, 'NAME');
  const stream = `${clients.prefix}${name}`;
  const login = await foldStream(clientLogins, log.readStream(stream));
  if (!login) throw refused('CLIENT_UNKNOWN', `Client ${name} not found.`);
  const notified = await foldStream(clientWebhooks, log.readStream(stream));
  const shown = { ...facts(login), ...(notified && { webhook: notified.url }) };
  if (values.json) say(jsonLine(shown));
  else for (const [fact, value] of Object.entries(shown)) say(`${fact}: ${String(value ?? 'none')}`);
}

async function list({ log, values }: Task): Promise<void> {
  const logins = await foldByKey(clientLogins, log.readAll({ streamPrefixes: [clients.prefix] }));
  for (const login of logins.values()) say(values.json ? jsonLine(facts(login)) : line(login));
}

async function newPassword(fromStdin = false): Promise<{ password: string; generated: boolean }> {
  if (!fromStdin) return { password: generatePassword(), generated: true };
  return { password: (await text(process.stdin)).replace(/\r?\n$/, ''), generated: false };
}

async function grant(
  administration: AdminCommands,
  client: string,
  collections: readonly string[],
): Promise<void> {
  for (const collection of collections) {
    const { opened } = await administration.grant(client, collection);
    if (opened) say(`Opened the collection ${collection}, which did not exist yet.`);
    say(`${client} may deposit in ${collection}.`);
  }
}

async function revoke(
  administration: AdminCommands,
  client: string,
  collections: readonly string[],
): Promise<void> {
  for (const collection of collections) {
    const isRevoked = await administration.client({ type: 'RevokeCollection', client, collection });
    say(
      isRevoked
        ? `${client} may no longer deposit in ${collection}.`
        : `Nothing to revoke: ${collection} was not granted to ${client}.`,
    );
  }
}

async function set(administration: AdminCommands, name: string, wanted: Wanted): Promise<void> {
  for (const command of settings(name, wanted)) {
    const after = await administration.clientAfter(command);
    if (after.status === 'unknown') continue; // refused above
    if (command.type === 'SetDomain') say(`Domain of ${name}: ${after.domain ?? 'none'}`);
    else say(`Provider URL of ${name}: ${after.providerUrl ?? 'none'}`);
  }
}

async function change(
  { administration, positionals }: Task,
  type: 'DisableClient' | 'EnableClient',
  now: string,
): Promise<void> {
  const client = onlyPositional(positionals, 'NAME');
  const changed = await administration.client({ type, client });
  say(`${client} is ${changed ? '' : 'already '}${now}.`);
}

/** Returns everything but the credential. */
function facts({ client, disabled, collections, domain, providerUrl }: ClientLogin) {
  return { client, disabled, collections, domain, providerUrl };
}

function line({ client, disabled, collections }: ClientLogin): string {
  return `${client}${disabled ? ' (disabled)' : ''}: ${collections.join(', ') || 'no collection'}`;
}
