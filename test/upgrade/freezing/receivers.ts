import { WebhookReceiver } from '../../../testing/service/webhook-receiver.ts';
import type { Notified } from '../expected.ts';

/** Outside the range from which systems pick free ports. */
const PORT = 18_719;

/** A webhook receiver for each client, at addresses that tests can have again: Linux has all of 127.0.0.0/8. */
export class Receivers implements AsyncDisposable {
  readonly #byClient: ReadonlyMap<string, Place>;

  /** `network`: the third number of their addresses, one for each fixture. */
  static async start(network: number, clients: readonly string[]): Promise<Receivers> {
    const started = clients.map(async (client, index) => {
      const host = `127.94.${network}.${index + 1}`;
      return [client, { host, receiver: await WebhookReceiver.start({ host, port: PORT }) }] as const;
    });
    return new Receivers(new Map(await Promise.all(started)));
  }

  private constructor(byClient: ReadonlyMap<string, Place>) {
    this.#byClient = byClient;
  }

  get clients(): readonly string[] {
    return [...this.#byClient.keys()];
  }

  of(client: string): WebhookReceiver {
    return this.#found(client).receiver;
  }

  placeOf(client: string): { readonly host: string; readonly port: number } {
    return { host: this.#found(client).host, port: PORT };
  }

  /** Every receiver accepts from now on. */
  acceptAll(): void {
    for (const { receiver } of this.#byClient.values()) receiver.manners = () => 204;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { receiver } of this.#byClient.values()) await receiver.down();
  }

  #found(client: string) {
    const found = this.#byClient.get(client);
    if (!found) throw new Error(`${client} has no receiver.`);
    return found;
  }
}

/** Returns the notifications that a receiver has accepted, from the `first` on. */
export function acceptedBy({ taken }: WebhookReceiver, first = 0): readonly Notified[] {
  return taken.slice(first).map(({ id, deposit, revision, status = null }) => {
    return { id, depositId: deposit, revision, status };
  });
}

type Place = { readonly host: string; readonly receiver: WebhookReceiver };
