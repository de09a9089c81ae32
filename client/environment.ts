import { homedir } from 'node:os';
import path from 'node:path';
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
  /** Proxies for other machines, and the hosts without. Node before 22.21 does not read them. */
  readonly proxies: Readonly<Record<string, string | undefined>>;
};

/** Names by which most programs know proxies; those in lower case take precedence. */
const PROXIES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'];

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
    proxies: Object.fromEntries(PROXIES.map((name) => [name, env[name]])),
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
