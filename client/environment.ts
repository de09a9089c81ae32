import { homedir } from 'node:os';
import path from 'node:path';
import { UsageFault } from './faults.ts';
import { ignoreErrors } from './state-files.ts';

/** The environment variables that the client reads. */
export type Environment = {
  readonly server: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly passwordFile: string | undefined;
  /** Folder for the files of this program. */
  readonly folder: string;
  /** Folder for files of this program that can be made again. */
  readonly cacheFolder: string;
  /** Seconds since 1970: modification time of everything that is packed, as in reproducible builds. */
  readonly sourceDateEpoch: string | undefined;
};

/**
 * Reads the environment. No name begins with DEPOSIT_, which a service on the same machine would read as its settings.
 */
export function readEnvironment(env: NodeJS.ProcessEnv = process.env, homeOf = homedir): Environment {
  // A user without a home folder, as in containers, gets the name that Debian uses: nothing is stored there.
  const home = env['HOME'] || (ignoreErrors(homeOf) ?? '/nonexistent');
  return {
    server: env['SWORD_SERVER'] || undefined,
    user: env['SWORD_USER'] || undefined,
    password: env['SWORD_PASSWORD'] || undefined,
    passwordFile: env['SWORD_PASSWORD_FILE'] || undefined,
    folder: path.join(configurationFolder(env, home), 'sword-deposit'),
    cacheFolder: path.join(userCacheFolder(env, home), 'sword-deposit'),
    sourceDateEpoch: env['SOURCE_DATE_EPOCH'] || undefined,
  };
}

function configurationFolder(env: NodeJS.ProcessEnv, home: string): string {
  if (process.platform === 'win32' && env['APPDATA']) return env['APPDATA'];
  return env['XDG_CONFIG_HOME'] || path.join(home, '.config');
}

function userCacheFolder(env: NodeJS.ProcessEnv, home: string): string {
  if (process.platform === 'win32' && env['LOCALAPPDATA']) return env['LOCALAPPDATA'];
  return env['XDG_CACHE_HOME'] || path.join(home, '.cache');
}

/** Names by which most programs know proxies, and hosts without; those in lower case take precedence. */
const PROXIES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'];

/**
 * Reads the proxies for other machines, and the hosts without. Node before 22.21 does not use them.
 * @throws {UsageFault} one is no address.
 */
export function readProxies(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const given = PROXIES.flatMap((name): [string, string][] => {
    const value = env[name];
    if (!value) return [];
    return [[name, name.toLowerCase() === 'no_proxy' ? value : proxyUrl(name, value)]];
  });
  return Object.fromEntries(given);
}

/** Returns the address with its scheme in lower case: Node ignores others, and would connect directly. */
function proxyUrl(name: string, value: string): string {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isUsable = url && /^https?:$/.test(url.protocol) && isDecodable(url.username + url.password);
  if (isUsable) return url.href;
  // The value may contain a password.
  throw new UsageFault(`${name} is not the address of a proxy: write it as http://host:port/.`);
}

function isDecodable(text: string): boolean {
  return ignoreErrors(() => decodeURIComponent(text)) !== undefined;
}
