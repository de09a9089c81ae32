import { setTimeout as pause } from 'node:timers/promises';
import { type Received, WebhookReceiver } from '../../testing/service/webhook-receiver.ts';
import type { Expected, Notified } from './expected.ts';

/** Receivers at the addresses that the webhooks of frozen data name; each accepts everything. */
export class FrozenReceivers implements AsyncDisposable {
  readonly #expected: Pick<Expected, 'receivers'>;
  readonly #byClient = new Map<string, WebhookReceiver>();

  /** Waits while the same test of another checkout has the addresses. */
  static async start(expected: Pick<Expected, 'receivers'>): Promise<FrozenReceivers> {
    const receivers = new FrozenReceivers(expected);
    for (const { client, host, port } of expected.receivers) {
      receivers.#byClient.set(client, await startedAt({ host, port }));
    }
    return receivers;
  }

  private constructor(expected: Pick<Expected, 'receivers'>) {
    this.#expected = expected;
  }

  /** Returns everything that came, in its order. */
  receivedBy(client: string): readonly Received[] {
    return this.#byClient.get(client)?.received ?? [];
  }

  /** Returns the notifications about one deposit that were accepted, before the freeze or now, each at its first time. */
  acceptedOf(client: string, depositId: number): readonly Notified[] {
    const before = this.#recordOf(client).accepted;
    const now = this.receivedBy(client).map(({ id, deposit, revision, status = null }) => {
      return { id, depositId: deposit, revision, status };
    });
    const byId = new Map<string, Notified>();
    for (const one of [...before, ...now]) {
      if (one.depositId === depositId && !byId.has(one.id)) byId.set(one.id, one);
    }
    return [...byId.values()];
  }

  /** Returns the notifications about one deposit that the old release had delivered in the end. */
  wantedOf(client: string, depositId: number): readonly Notified[] {
    const { accepted, deliveredLater } = this.#recordOf(client);
    return [...accepted, ...deliveredLater].filter((one) => one.depositId === depositId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const receiver of this.#byClient.values()) await receiver.down();
  }

  #recordOf(client: string) {
    const record = this.#expected.receivers.find((one) => one.client === client);
    if (!record) throw new Error(`${client} has no webhook.`);
    return record;
  }
}

async function startedAt(place: { readonly host: string; readonly port: number }): Promise<WebhookReceiver> {
  for (;;) {
    try {
      return await WebhookReceiver.start(place);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      await pause(500);
    }
  }
}
