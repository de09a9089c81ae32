import { errorsOfCode } from '../../tools/coded-error.ts';
import type { BackoffOptions } from '../../tools/concurrency/backoff.ts';

export type Credentials = { readonly username: string; readonly password: string };

export type EventStoreDbOptions = Partial<BackoffOptions> & {
  /** `esdb://host:2113?tls=false`, or a cluster: `esdb://h1:2113,h2:2113,h3:2113?tls=true&nodePreference=leader`. */
  readonly connectionString: string;
  /** Time limit of one call before its client is dropped, in milliseconds. */
  readonly callTimeout?: number;
  /** Time limit for repetitions of an operation whose outcome is unknown, in milliseconds. */
  readonly retryTimeout?: number;
  /** Milliseconds of silence after which a subscription checks that there are no undelivered events. */
  readonly quietTime?: number;
};

/** The connection string of `DEPOSIT_EVENT_LOG` is invalid. It may hold a password, so it is never repeated. */
export class BadConnection extends errorsOfCode('BAD_CONFIG') {
  constructor(message: string) {
    super(`DEPOSIT_EVENT_LOG: ${message}`);
  }
}

/**
 * Returns the credentials for every append. With credentials the client uses the plain append call; without, it uses a
 * shared stream on which the failure of one client fails the appends of others.
 * @throws {BadConnection} the connection uses TLS, but the string has no credentials.
 */
export function credentialsOf({ connectionString }: EventStoreDbOptions): Credentials {
  // As the client reads it: a user name without a colon, and a password without an @.
  const [, username, password, rest = ''] = /^[^/]*\/\/([^:@]+):([^@]+)@(.*)$/.exec(connectionString) ?? [];
  if (/^[^?]*@/.test(rest)) {
    throw new BadConnection('the user name or the password has an @: write %40 for it.');
  }
  if (username !== undefined && password !== undefined) {
    return { username: decoded(username), password: decoded(password) };
  }
  // Without TLS the client sends no credentials.
  if (/[?&]tls=false\b/i.test(connectionString)) return { username: 'nobody', password: 'nothing' };
  throw new BadConnection(
    'EventStoreDB with TLS needs a user name and a password: esdb://name:password@host:2113.',
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new BadConnection(
      'the user name or the password has a % without two hex digits after it: write %25 for it.',
    );
  }
}
