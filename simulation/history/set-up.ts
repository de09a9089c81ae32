import { hash, randomUUID } from 'node:crypto';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { WebhookKey } from '../../src/modules/webhooks/webhook-key.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { Orphans } from '../../src/operations/gc/orphans.ts';
import { appendBinding } from '../../src/service/backends/store-binding.ts';
import { RECEIVER_HOST } from '../nodes/site-settings.ts';
import { CLIENTS, type Plan } from '../plan/plan.ts';
import { KEY_FILE } from '../world/simulated-files.ts';
import { archiveOf } from './archive-bytes.ts';
import { keyOf } from './lost-objects.ts';
import type { Scene } from './scene.ts';

const CREDENTIAL = { scheme: 'scrypt', N: 1, r: 1, p: 1, salt: 'AA==', digest: 'AA==' } as const;
/** How old orphans are, and how old they must be to be removed. */
const [ORPHAN_AGE_MS, LEAST_AGE_MS] = [172_800_000, 3_600_000];

/** Binds the store to the log, as the first start of a node does it. */
export async function bindStore(log: EventLog, store: ObjectStore): Promise<void> {
  const id = randomUUID();
  await appendBinding(log, id, undefined);
  await store.setId(id);
}

/** Registers the clients; all but the last get a webhook. */
export async function registerClients(log: EventLog): Promise<void> {
  const administration = new AdminCommands(log, { kind: 'operator', name: 'olivia' });
  const key = await WebhookKey.read(KEY_FILE);
  for (const client of CLIENTS) {
    await administration.client({ type: 'RegisterClient', client, credential: CREDENTIAL });
    await administration.grant(client, 'software');
    if (client === CLIENTS.at(-1)) continue;
    const secret = key.seal('s'.repeat(32), client);
    await administration.client({ type: 'SetWebhook', client, url: `https://${RECEIVER_HOST}/`, secret });
  }
}

/** Stores the bytes of some archives as old objects that no event names. */
export function storeOrphans({ store }: Scene, plan: Plan): void {
  for (const { name, archive, isOrphan } of plan.deposits) {
    if (!isOrphan) continue;
    const bytes = archiveOf(archive, plan, name);
    store.put(keyOf(hash('sha256', bytes)), bytes, new Date(Date.now() - ORPHAN_AGE_MS));
  }
}

/** Removes old objects that no event names, as `npm run gc -- --remove --older-than 1h` does. */
export async function collectGarbage(log: EventLog, store: ObjectStore): Promise<void> {
  const storedBefore = new Date(Date.now() - LEAST_AGE_MS);
  const { signal } = new AbortController();
  const progress = (): void => undefined;
  using orphans = await Orphans.find({
    log,
    store,
    storedBefore,
    progress,
    signal,
  });
  for (const { sha256 } of orphans) await store.remove(sha256, { storedBefore });
}
