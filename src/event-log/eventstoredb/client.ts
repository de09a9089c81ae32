import { EventStoreDBClient } from '@eventstore/db-client';
import { inTime } from '../../in-time.ts';
import { CallLost } from './faults.ts';
import { BadConnection } from './settings.ts';

type Channel = { close(): void; internalChannel?: { options?: Record<string, unknown> } };

const PATIENCE = 2000;
/** By itself it waits up to two minutes to connect again, across all clients of the process. */
const RECONNECTING = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 2000 };

/** One client of @eventstore/db-client 6.2.1 and the connections it has opened, which it cannot close itself. */
export class EventStoreDbClient {
  readonly client: EventStoreDBClient;
  readonly #lost = new AbortController();
  readonly #channels = new Set<() => void>();

  /** @throws {BadConnection} the connection string is none. */
  constructor(connectionString: string) {
    this.client = parsed(connectionString);
    this.#tendChannels();
  }

  /** Aborts, with the reason, when the client is dropped: what runs on it then is given up. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Ends everything that runs on it, in the background if the client takes longer than two seconds. */
  async drop(reason = new CallLost('The client was dropped.')): Promise<void> {
    if (this.lost.aborted) return;
    this.#lost.abort(reason);
    await inTime(this.client.dispose(), PATIENCE).catch(() => undefined);
    for (const close of this.#channels) close();
  }

  /**
   * There is no official way to any of this. The client closes a channel that failed, but may begin a call on it a
   * moment later, which throws inside a promise that nobody holds and so ends the process. Therefore channels close a
   * moment later than it says.
   */
  #tendChannels(): void {
    const internals = this.client as unknown as { createChannel: () => Promise<Channel> };
    const create = internals.createChannel;
    internals.createChannel = async () => {
      const channel = await create();
      Object.assign(channel.internalChannel?.options ?? {}, RECONNECTING);
      const close = channel.close.bind(channel);
      const closeNow = () => {
        this.#channels.delete(closeNow);
        close();
      };
      this.#channels.add(closeNow);
      channel.close = () => void setTimeout(closeNow, 1000).unref();
      if (this.lost.aborted) closeNow();
      return channel;
    };
  }
}

/** The text may hold a password, so no error repeats it. */
function parsed(connectionString: string): EventStoreDBClient {
  try {
    return EventStoreDBClient.connectionString(connectionString);
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    // oxlint-disable-next-line preserve-caught-error -- its message may repeat the password
    throw new BadConnection(
      code && path
        ? `The certificate file ${path} of EventStoreDB cannot be read (${code}).`
        : 'The connection string is none that EventStoreDB clients know (esdb://host:2113?tls=true).',
    );
  }
}
