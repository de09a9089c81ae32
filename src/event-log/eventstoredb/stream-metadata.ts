import type { JsonObject } from '../event-log.ts';
import { EventStoreDbConnection } from './connection.ts';
import { unlessDenied } from './errors.ts';
import { collectEvents } from './pages.ts';
import type { EventStoreDbOptions } from './settings.ts';

/** Metadata of a stream on the server. They are no event of the log, so a copy of all events does not have them. */
export class EventStoreDbStreamMetadata implements AsyncDisposable {
  readonly #connection: EventStoreDbConnection;
  readonly #stream: string;

  constructor(options: EventStoreDbOptions, stream: string) {
    this.#connection = new EventStoreDbConnection(options);
    this.#stream = stream;
  }

  /** Resolves to the newest metadata, by default to an empty object; to `'denied'` if the user may not read them. */
  async read(): Promise<JsonObject | 'denied'> {
    const newest = { direction: 'backwards', fromRevision: 'end', maxCount: 1 } as const;
    const what = `Reading the metadata of ${this.#stream}`;
    const found = await this.#connection.persist(what, (client, options, stop) =>
      collectEvents(
        client.readStream(`$$${this.#stream}`, { ...options, ...newest }),
        options.deadline,
        stop,
      ).catch(unlessDenied),
    );
    return found === 'denied' ? found : ((found[0]?.event?.data ?? {}) as JsonObject);
  }

  async write(metadata: JsonObject): Promise<void> {
    await this.#connection.persist(`Writing the metadata of ${this.#stream}`, (client, options) =>
      client.setStreamMetadata(this.#stream, metadata, options),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
  }
}
