import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { isLoopback } from '../src/loopback.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { reasonOf, UsageFault } from './faults.ts';
import { readKeptLogin } from './kept-login.ts';
import { promptForPassword } from './password-prompt.ts';

/** Where to deposit, and as whom. */
export type Login = { readonly server: URL; readonly user: string; readonly password: string };

/** As options of the command give them. */
export type LoginOptions = {
  readonly server?: string | undefined;
  readonly user?: string | undefined;
  readonly 'password-stdin'?: boolean | undefined;
};

export const LOGIN_OPTIONS = {
  server: { type: 'string' },
  user: { type: 'string' },
  'password-stdin': { type: 'boolean' },
} as const;

/**
 * Options come before the environment, and that before what `deposit login` has kept, which does not count with `anew`.
 * @throws {UsageFault} something is missing.
 */
export async function readLogin(options: LoginOptions, { anew = false } = {}): Promise<Login> {
  const environment = readEnvironment();
  const kept = anew || isComplete(options, environment) ? undefined : readKeptLogin(environment.folder);
  const address = options.server ?? environment.server ?? kept?.server;
  if (!address)
    throw new UsageFault('No server is known: give --server URL, set SWORD_SERVER, or run deposit login.');
  const server = serverUrl(address);
  const keptHere = kept && serverUrl(kept.server).href === server.href ? kept : undefined;
  const user = options.user ?? environment.user ?? keptHere?.user;
  if (!user)
    throw new UsageFault('No user is known: give --user NAME, set SWORD_USER, or run deposit login.');
  if (/[:\p{Cc}]/u.test(user)) throw new UsageFault('A user name holds no colon and no control character.');
  // A kept password goes with the server and the user it was kept for, with nobody else.
  const password =
    (await givenPassword(options, environment)) ?? (keptHere?.user === user ? keptHere.password : undefined);
  return { server, user, password: password ?? (await promptForPassword(user, server)) };
}

/** Whether nothing is to be looked for in what was kept: it may be damaged, or others may read it. */
function isComplete(options: LoginOptions, { server, user, password, passwordFile }: Environment): boolean {
  const hasPassword = options['password-stdin'] || password !== undefined || passwordFile !== undefined;
  return Boolean((options.server ?? server) && (options.user ?? user) && hasPassword);
}

/** @throws {UsageFault} */
export function serverUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageFault(
      `“${address}” is no address of a server: write it as https://host/ or http://host:port/.`,
    );
  if (url.username || url.password)
    throw new UsageFault(
      'The address of the server must not hold the password: give --user and --password-stdin.',
    );
  url.search = '';
  url.hash = '';
  return url;
}

/** Whether a password goes over the network for everybody to read. */
export function isExposed({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, '')); // addresses of IPv6 have brackets
}

async function givenPassword(
  options: LoginOptions,
  { password, passwordFile }: Environment,
): Promise<string | undefined> {
  if (options['password-stdin']) return withoutLineEnd(await text(process.stdin));
  if (passwordFile === undefined) return password;
  try {
    return withoutLineEnd(readFileSync(passwordFile, 'utf8'));
  } catch (error) {
    throw new UsageFault(`SWORD_PASSWORD_FILE=${passwordFile} cannot be read: ${reasonOf(error)}.`);
  }
}

function withoutLineEnd(content: string): string {
  return content.replace(/\r?\n$/, '');
}
