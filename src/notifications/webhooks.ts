import { clientLogins } from '../../projections/client-logins.ts';
import { type ClientWebhook, clientWebhooks } from '../../projections/client-webhooks.ts';
import { clients } from '../domain/aggregates.ts';
import type { EventLog, Position } from '../event-log/event-log.ts';
import { foldStream } from '../read-models/fold.ts';
import type { Projector, View } from '../read-models/projector.ts';

/** How far the view may lag behind the notifier and still be waited for, in milliseconds. */
const VIEW_DELAY_MS = 500;

type Owned = { readonly client: string; readonly collection: string };

/** Who is notified, and where. */
export class Webhooks {
  readonly #log: Pick<EventLog, 'readStream'>;
  readonly #projector: Pick<Projector, 'position' | 'passed'>;
  readonly #view: View<ClientWebhook>;

  /** @param view of {@link clientWebhooks}, kept by the projector. */
  constructor(
    log: Pick<EventLog, 'readStream'>,
    projector: Pick<Projector, 'position' | 'passed'>,
    view: View<ClientWebhook>,
  ) {
    this.#log = log;
    this.#projector = projector;
    this.#view = view;
  }

  /** Whether any client may have a webhook at this place of the log, which the view may not have reached yet. */
  mayBeAnyAt(position: Position): boolean {
    return !this.#hasSeen(position) || this.oldest !== undefined;
  }

  /** Waits a moment for the view to get to this place: asking it is cheaper than asking the log. */
  async arrived(position: Position): Promise<void> {
    if (!this.#hasSeen(position)) await this.#projector.passed(position, VIEW_DELAY_MS);
  }

  /** As they are now, as far as this node knows. */
  all(): Iterable<ClientWebhook> {
    return this.#view.values();
  }

  /** The one that has been there for longest. */
  get oldest(): ClientWebhook | undefined {
    return this.#view.find({ orderBy: 'since', limit: 1 })[0];
  }

  /** That of a client as it is at an event or later; `undefined` when it has none or got it only afterwards. */
  async at(client: string, position: Position): Promise<ClientWebhook | undefined> {
    const webhook = this.#hasSeen(position) ? this.#view.get(client) : await this.#read(client);
    return webhook && webhook.since < position ? webhook : undefined;
  }

  /** As it is now, as far as this node knows. */
  now(client: string): ClientWebhook | undefined {
    return this.#view.get(client);
  }

  /**
   * Why the client is not to be told of its deposits in the collection, of which it may read nothing at present;
   * `undefined` when it may. Asked of the log, so that it holds on every node at once.
   */
  async whyUntold({ client, collection }: Owned): Promise<string | undefined> {
    const login = await foldStream(clientLogins, this.#log.readStream(`${clients.prefix}${client}`));
    if (login?.disabled !== false) return 'The client is disabled.';
    if (login.collections.includes(collection)) return undefined;
    return `The collection ${collection} is not granted to the client any more.`;
  }

  #hasSeen(position: Position): boolean {
    return this.#projector.position !== undefined && this.#projector.position >= position;
  }

  #read(client: string): Promise<ClientWebhook | undefined> {
    return foldStream(clientWebhooks, this.#log.readStream(`${clients.prefix}${client}`));
  }
}
