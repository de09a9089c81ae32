import { EventStoreDBClient } from '@eventstore/db-client';
import { clock } from '../../tools/clock.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import { random } from '../../tools/random.ts';
import { CallLost } from './errors.ts';
import { BadConnection } from './settings.ts';

type Channel = {
  close(): void;
  readonly internalChannel?: {
    readonly options?: Record<string, unknown>;
    /** The factories of the filters of each call; the last one changes what is sent last. */
    readonly filterStackFactory?: { readonly factories: { createFilter(): object }[] };
  };
};
type CallMetadata = { set(name: string, value: string): void };

/**
 * Parts of the client without a public name. The client looks each of them up at every call, so they can be replaced.
 */
type Internals = {
  createChannel: () => Promise<Channel>;
  getGRPCClient: (...call: readonly unknown[]) => Promise<unknown>;
  handleError: (...failure: readonly unknown[]) => Promise<void>;
};

const DISPOSE_TIMEOUT_MS = 2000;
/** The client closes a channel while calls may still begin on it; after this delay no call does. */
const CLOSE_DELAY_MS = 1000;
/** Reconnect delays. The defaults of the client are up to two minutes, across all clients of the process. */
const RECONNECTING = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 2000 };

const unchanged = <Value>(value: Value): Value => value;
/**
 * A filter of the gRPC library that asks the server not to compress. The library announces gzip; then the server
 * compresses each event by itself, and the library decompresses each by a zlib stream of its own.
 */
const UNCOMPRESSED = {
  sendMetadata: async (metadata: Promise<CallMetadata>) => {
    const sent = await metadata;
    sent.set('grpc-accept-encoding', 'identity');
    return sent;
  },
  receiveMetadata: unchanged,
  sendMessage: unchanged,
  receiveMessage: unchanged,
  receiveTrailers: unchanged,
};

/**
 * Wraps a client of @eventstore/db-client 6.2.1 and the connections it has opened, which it cannot close
 * itself.
 *
 * Two promises of that client have no handler, and their rejection would end the process:
 * - An append that begins on a closed channel throws inside a promise that the client drops. It happens to
 *   appends that wait for discovery while the client is dropped. Therefore no call of a dropped client gets a
 *   channel, and channels close only when every call that got one has begun on it.
 * - Its own error handler waits for the next channel without handling that discovery of a leader may fail.
 */
export class DroppableClient {
  readonly driver: EventStoreDBClient;
  readonly #lost = new AbortController();
  /** Aborts, with the reason, when the client is dropped; its calls and streams are abandoned then. */
  readonly lost = this.#lost.signal;
  readonly #channels = new Set<() => void>();

  /** @throws {BadConnection} the connection string is not valid. */
  constructor(connectionString: string) {
    this.driver = parseConnectionString(withOneSearch(withOwnName(connectionString)));
    // The connection string may turn this off: then the client reports an append that the server refused as a success.
    Object.defineProperty(this.driver, 'throwOnAppendFailure', { value: true });
    const internals = this.driver as unknown as Internals; // they are not in its types
    this.#handleRejections(internals);
    this.#trackChannels(internals);
  }

  /** Ends all calls and streams of the client; in the background if the client takes longer than two seconds. */
  async drop(): Promise<void> {
    if (this.lost.aborted) return;
    this.#lost.abort(new CallLost('The client was dropped.'));
    await withTimeout(this.driver.dispose(), DISPOSE_TIMEOUT_MS).catch(() => undefined);
    await clock.nextTurn(); // calls that got a channel before the abort begin within the same turn of the event loop
    for (const close of this.#channels) close();
  }

  #handleRejections(internals: Internals): void {
    const { getGRPCClient, handleError } = internals;
    internals.getGRPCClient = async (...call) => {
      const grpcClient = await getGRPCClient(...call);
      this.lost.throwIfAborted();
      return grpcClient;
    };
    // The call that failed reports its error itself, and a discovery that failed is repeated by the next call.
    internals.handleError = (...failure) => handleError(...failure).catch(() => undefined);
  }

  #trackChannels(internals: Internals): void {
    const create = internals.createChannel;
    internals.createChannel = async () => {
      const channel = await create();
      Object.assign(channel.internalChannel?.options ?? {}, RECONNECTING);
      channel.internalChannel?.filterStackFactory?.factories.push({ createFilter: () => UNCOMPRESSED });
      const close = channel.close.bind(channel);
      const closeNow = () => {
        this.#channels.delete(closeNow);
        close();
      };
      this.#channels.add(closeNow);
      channel.close = () => void clock.setTimeout(closeNow, CLOSE_DELAY_MS).unref();
      if (this.lost.aborted) closeNow();
      this.lost.throwIfAborted();
      return channel;
    };
  }
}

/**
 * Makes a name of the connection unique, as the client's own names are: by it a consumer finds itself among those that
 * the server lists.
 */
function withOwnName(connectionString: string): string {
  return connectionString.replace(/[?&]connection[_-]?name=[^&?]+/i, `$&-${random.uuid()}`);
}

/**
 * Has the client look for a cluster once for each call, not ten times: calls are repeated here, and its search continues
 * after the client was dropped, 5 seconds for each silent server.
 */
function withOneSearch(connectionString: string): string {
  if (/[?&]max[-_]?discover[-_]?attempts=/i.test(connectionString)) return connectionString;
  const [, options = ''] = /^[^/]*\/\/(?:[^:]+:[^@]+@)?(.*)$/.exec(connectionString) ?? [];
  return `${connectionString}${options.includes('?') ? '&' : '?'}maxDiscoverAttempts=1`;
}

/** Parses the connection string. It may hold a password, so no error and no warning repeats it. */
function parseConnectionString(connectionString: string): EventStoreDBClient {
  const { warn } = console;
  // The client warns of options that it ignores, in one line, and prints the whole connection string after it.
  console.warn = (text: unknown) => warn(String(text).split('\n', 1)[0]);
  try {
    return EventStoreDBClient.connectionString(connectionString);
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException;
    const fileCode = message.endsWith('File was not found.') ? 'ENOENT' : code; // an invalid string has no code
    // oxlint-disable-next-line preserve-caught-error -- its message may repeat the password
    throw new BadConnection(
      fileCode
        ? `The certificate file ${path ?? 'in the connection string'} of EventStoreDB cannot be read (${fileCode}).`
        : 'The connection string is not an EventStoreDB connection string (esdb://host:2113?tls=true).',
    );
  } finally {
    console.warn = warn;
  }
}
