import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import type { parseArgs } from 'node:util';
import { isLoopback } from '../src/config/loopback.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { reasonOf, UsageFault } from './faults.ts';
import { readKeptLogin } from './kept-login.ts';
import { promptForPassword } from './password-prompt.ts';

export type Login = { readonly server: URL; readonly user: string; readonly password: string };

export const LOGIN_OPTIONS = {
  server: { type: 'string' },
  user: { type: 'string' },
  'password-stdin': { type: 'boolean' },
} as const;

export type LoginOptions = ReturnType<typeof parseArgs<{ options: typeof LOGIN_OPTIONS }>>['values'];

/**
 * Reads the login: from options, else the environment, else the file of `deposit login`, which `ignoreKept` skips.
 * @throws {UsageFault} a part is missing.
 */
export async function readLogin(options: LoginOptions, { ignoreKept = false } = {}): Promise<Login> {
  const environment = readEnvironment();
  const kept = ignoreKept || isComplete(options, environment) ? undefined : readKeptLogin(environment.folder);
  const address = options.server ?? environment.server ?? kept?.server;
  if (!address)
    throw new UsageFault('No server given: use --server URL, set SWORD_SERVER, or run deposit login.');
  const server = serverUrl(address);
  const keptHere = kept && serverUrl(kept.server).href === server.href ? kept : undefined;
  const user = options.user ?? environment.user ?? keptHere?.user;
  if (!user) throw new UsageFault('No user given: use --user NAME, set SWORD_USER, or run deposit login.');
  if (/[:\p{Cc}]/u.test(user))
    throw new UsageFault('Invalid user name: it must not contain a colon or a control character.');
  // A stored password is used only with the server and the user for which it was stored.
  const password =
    (await givenPassword(options, environment)) ?? (keptHere?.user === user ? keptHere.password : undefined);
  return { server, user, password: password ?? (await promptForPassword(user, server)) };
}

/** Whether the stored login is not needed: its file may be corrupt or readable for others. */
function isComplete(options: LoginOptions, { server, user, password, passwordFile }: Environment): boolean {
  const hasPassword = options['password-stdin'] || password !== undefined || passwordFile !== undefined;
  return Boolean((options.server ?? server) && (options.user ?? user) && hasPassword);
}

/** @throws {UsageFault} */
function serverUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageFault(
      `'${withoutUser(address)}' is not a server address: write it as https://host/ or http://host:port/.`,
    );
  if (url.username || url.password)
    throw new UsageFault(
      'The server address must not contain the password: use --user and --password-stdin.',
    );
  url.hash = '';
  return url;
}

/** Returns the address without its user information, which may contain a password. */
function withoutUser(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1…@');
}

/** Whether a password would be sent unencrypted over the network. */
export function isExposed(server: URL): boolean {
  return server.protocol === 'http:' && !isThisMachine(server);
}

export function isThisMachine({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[|\]$/g, '')); // IPv6 addresses have brackets
}

async function givenPassword(
  options: LoginOptions,
  { password, passwordFile }: Environment,
): Promise<string | undefined> {
  if (options['password-stdin']) return passwordIn(await buffer(process.stdin), 'The standard input');
  if (passwordFile === undefined) return password;
  return passwordIn(contentOf(passwordFile), `SWORD_PASSWORD_FILE=${passwordFile}`);
}

function contentOf(passwordFile: string): Uint8Array {
  try {
    return readFileSync(passwordFile);
  } catch (error) {
    throw new UsageFault(`SWORD_PASSWORD_FILE=${passwordFile} cannot be read: ${reasonOf(error)}.`);
  }
}

/**
 * Returns the password without the end of its line. It is in UTF-8, or in UTF-16 with a byte order mark, which Windows
 * PowerShell writes. `what` names the bytes in errors.
 * @throws {UsageFault} they are in another encoding.
 */
export function passwordIn(bytes: Uint8Array, what: string): string {
  const [first = 0, second = 0] = bytes;
  const mark = first * 256 + second;
  const encoding = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw new UsageFault(`${what} is no text in UTF-8, or in UTF-16 with a byte order mark.`);
  }
}
