import { homedir } from 'node:os';
import path from 'node:path';

/** What counts of the environment; nothing else is read of it. */
export type Environment = {
  readonly server: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly passwordFile: string | undefined;
  /** Where this program keeps things. */
  readonly folder: string;
  /** Seconds since 1970: the time of everything that is packed, as reproducible builds have it. */
  readonly sourceDateEpoch: string | undefined;
};

/** None of the names begins with DEPOSIT_, which the service on the same machine would take for its own settings. */
export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  return {
    server: env['SWORD_SERVER'] || undefined,
    user: env['SWORD_USER'] || undefined,
    password: env['SWORD_PASSWORD'] || undefined,
    passwordFile: env['SWORD_PASSWORD_FILE'] || undefined,
    folder: path.join(configurationFolder(env), 'sword-deposit'),
    sourceDateEpoch: env['SOURCE_DATE_EPOCH'] || undefined,
  };
}

function configurationFolder(env: NodeJS.ProcessEnv): string {
  if (process.platform === 'win32' && env['APPDATA']) return env['APPDATA'];
  return env['XDG_CONFIG_HOME'] || path.join(env['HOME'] || homedir(), '.config');
}
