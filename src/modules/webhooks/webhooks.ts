import { clientLogins } from '../../../projections/client-logins.ts';
import { type ClientWebhook, clientWebhooks } from '../../../projections/client-webhooks.ts';
import { clients } from '../../domain/aggregates.ts';
import type { EventLog, Position } from '../../event-log/event-log.ts';
import { foldStream } from '../../views/fold.ts';
import type { Projector } from '../../views/projector.ts';
import type { ReachedByQueries, View } from '../../views/view.ts';
import { unlessUnavailable } from '../../views/view-unavailable.ts';

/** Milliseconds that deliveries wait for a view to catch up: below the time in which a runner stops. */
export const VIEW_TIMEOUT_MS = 2000;

type Owned = { readonly client: string; readonly collection: string };

/** Webhooks of the clients, and their permission to be notified. */
export class Webhooks {
  readonly #log: Pick<EventLog, 'readStream'>;
  readonly #view: View<ClientWebhook>;
  readonly #queries: ReachedByQueries;
  /** Whether there is any, as a query has found; `undefined` after an event of a client. */
  #isAny: boolean | undefined;

  /** @param view of {@link clientWebhooks}, maintained by the projector. */
  constructor(
    log: Pick<EventLog, 'readStream'>,
    projector: Pick<Projector, 'queriesOf' | 'listen'>,
    view: View<ClientWebhook>,
  ) {
    this.#log = log;
    this.#view = view;
    this.#queries = projector.queriesOf(clientWebhooks);
    projector.listen((events) => {
      if (events.some(({ stream }) => stream.startsWith(clients.prefix))) this.#isAny = undefined;
    });
  }

  /** Whether any client may have a webhook at this position, which the view may not have reached yet, or not show. */
  mayBeAnyAt(position: Position): boolean {
    const look = (): boolean => {
      // On a full disk, queries do not find a webhook that was set meanwhile.
      if (!this.#hasSeen(position) || !this.#queries.isCurrent()) return true;
      this.#isAny ??= this.#oldest !== undefined;
      return this.#isAny;
    };
    return unlessUnavailable(look, () => true);
  }

  /** Waits a moment for the view to reach the position: reading the view is cheaper than reading the log. */
  async waitForView(position: Position): Promise<void> {
    if (!this.#hasSeen(position)) await this.#queries.passed(position, VIEW_TIMEOUT_MS);
  }

  /** Returns the current webhooks known to this node. */
  all(): Iterable<ClientWebhook> {
    return this.#view.values();
  }

  /**
   * Returns the position after which events may concern a webhook; `head` while no client has one. Returns `undefined`,
   * the beginning of the log, while the view is damaged.
   */
  startAt(head: Position | undefined): Position | undefined {
    return unlessUnavailable(
      () => this.#oldest?.since ?? head,
      () => undefined,
    );
  }

  /**
   * Resolves to the client's webhook at the event or later; `undefined` if it had none at the event. Reads the log while
   * the view is behind or damaged.
   */
  async at(client: string, position: Position): Promise<ClientWebhook | undefined> {
    const fold = () => foldStream(clientWebhooks, this.#log.readStream(`${clients.prefix}${client}`));
    const look = () => (this.#hasSeen(position) ? this.#view.get(client) : fold());
    const webhook = await unlessUnavailable(look, fold);
    return webhook && webhook.since < position ? webhook : undefined;
  }

  /** Returns the client's current webhook known to this node. */
  current(client: string): ClientWebhook | undefined {
    return this.#view.get(client);
  }

  /**
   * Resolves to the reason why the client may not be notified of its deposits in the collection, to which it has no
   * access at present; `undefined` if it may. Reads the log, so that a change takes effect on every node at once.
   */
  async refusalReason({ client, collection }: Owned): Promise<string | undefined> {
    const login = await foldStream(clientLogins, this.#log.readStream(`${clients.prefix}${client}`));
    if (login?.disabled !== false) return 'The client is disabled.';
    if (login.collections.includes(collection)) return undefined;
    return `The collection ${collection} is no longer granted to the client.`;
  }

  get #oldest(): ClientWebhook | undefined {
    return this.#view.find({ orderBy: 'since', limit: 1 })[0];
  }

  #hasSeen(position: Position): boolean {
    const reached = this.#queries.position;
    return reached !== undefined && reached >= position;
  }
}
