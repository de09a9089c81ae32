import type { BackOffSettings } from './back-off.ts';

export type Credentials = { readonly username: string; readonly password: string };

export type EventStoreDbOptions = BackOffSettings & {
  /** `esdb://host:2113?tls=false`, or a cluster: `esdb://h1:2113,h2:2113,h3:2113?tls=true&nodePreference=leader`. */
  readonly connectionString: string;
  /** May be in the connection string as well; needed with TLS. */
  readonly credentials?: Credentials;
  /** How long one call may take before its client is dropped, in milliseconds. */
  readonly callTimeout?: number;
  /** How long an operation whose outcome is unknown is begun again, in milliseconds. */
  readonly patience?: number;
  /** How long a subscription may be silent before it is checked that there is nothing to say, in milliseconds. */
  readonly quietTime?: number;
};

/** The connection string of `DEPOSIT_EVENT_LOG` cannot be right. It may hold a password, so it is never repeated. */
export class BadConnection extends TypeError {
  override readonly name = 'BadConnection';
  readonly code = 'BAD_CONFIG';

  constructor(message: string) {
    super(`DEPOSIT_EVENT_LOG: ${message}`);
  }
}

/**
 * Credentials for every append. With them the client takes the plain append call; without, it takes a shared
 * stream on which the failure of one client fails the appends of others.
 * @throws {BadConnection} the connection is secure and nobody said as whom.
 */
export function credentialsOf({ connectionString, credentials }: EventStoreDbOptions): Credentials {
  if (credentials) return credentials;
  const [, username, password] = /^[^/]*\/\/([^:@/]+):([^@/]+)@/.exec(connectionString) ?? [];
  if (username !== undefined && password !== undefined) {
    return { username: decoded(username), password: decoded(password) };
  }
  // Without TLS the client sends no credentials at all.
  if (/[?&]tls=false\b/i.test(connectionString)) return { username: 'nobody', password: 'nothing' };
  throw new BadConnection(
    'EventStoreDB with TLS needs a user name and a password: esdb://name:password@host:2113.',
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new BadConnection('the user name or the password has a % that begins no code: write %25 for it.');
  }
}
