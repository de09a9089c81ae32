import { hash } from 'node:crypto';
import { readConfig } from '../../src/config/read-config.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import { referencedObjects } from '../../src/domain/deposit/objects-of-events.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { unsettled } from '../service/drilled-service.ts';
import type { Ledger, WatchedDeposit } from './watched-deposit.ts';

/** The promises in a ledger that did not hold, a sentence each. */
export type Kept = {
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  /** Completed deposits that were not settled within the time limit. */
  readonly stuck: readonly string[];
  /** Creates that were sent once, not answered, and executed. */
  readonly doneUnanswered: readonly string[];
};

/** Time limit for completed deposits to be settled, in milliseconds, and requests at a time. */
const [TIME_LIMIT_MS, AT_A_TIME] = [60_000, 8];

/** Compares the answers to clients with the state of the running service and with its log. */
export async function promisesKept(ledger: Ledger, client: TestClient, dataDir: string): Promise<Kept> {
  const stuck = await unsettled(dataDir, TIME_LIMIT_MS);
  const lost: string[] = [];
  const rest = ledger.deposits.values();
  const worker = async (): Promise<void> => {
    for (const deposit of rest) lost.push(...(await lostOf(deposit, client)));
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return {
    lost,
    ...(await madeTwice(dataDir, ledger)),
    stuck: stuck.map((stream) => `${stream} was completed and has not come to its end.`),
  };
}

async function lostOf({ id, archive, title, final }: WatchedDeposit, client: TestClient): Promise<string[]> {
  const at = (part: string): Promise<Response> => client.get(`/1/drill/${id}/${part}/`);
  const lost: string[] = [];
  const receipt = await at('metadata');
  const text = await receipt.text();
  if (receipt.status !== 200) return [`Deposit ${id} was acknowledged and is answered ${receipt.status}.`];
  if (title.isKnown && !title.allows(/<title>([^<]*)</.exec(text)?.[1] ?? ''))
    lost.push(`Deposit ${id} has metadata other than those acknowledged: ${text.slice(0, 600)}`);
  if (archive.isKnown) {
    const media = await at('media');
    const sha256 = hash('sha256', new Uint8Array(await media.arrayBuffer()));
    if (media.status !== 200 || !archive.allows(sha256))
      lost.push(`Deposit ${id} has another archive than was acknowledged (${media.status}, ${sha256}).`);
  }
  const status = /<deposit_status>(\w+)</.exec(await (await at('status')).text())?.[1] ?? 'none';
  if (final === 'acknowledged' && !['done', 'rejected'].includes(status))
    lost.push(`Deposit ${id} was completed and is ${status}.`);
  if (final === 'no' && status !== 'partial')
    lost.push(`Deposit ${id} is ${status}, which no client requested.`);
  return lost;
}

/** Returns creates that were executed twice, unknown deposits, and deposits that no client was given. */
async function madeTwice(
  dataDir: string,
  { creates, unansweredCreates }: Ledger,
): Promise<Pick<Kept, 'doubled' | 'doneUnanswered'>> {
  const doubled: string[] = [];
  const [seen, begun] = [new Set<string>(), new Set<string>()];
  await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: dataDir }), { readOnly: true });
  for await (const event of log.readAll({ streamPrefixes: [deposits.prefix] })) {
    const [first] = begun.has(event.stream) ? [] : referencedObjects(deposits.codec.read(event));
    if (first === undefined) continue; // the creation itself, or a later event
    begun.add(event.stream);
    if (seen.has(first)) doubled.push(`${event.stream} was made by a create that had made another.`);
    else if (!creates.has(first)) doubled.push(`${event.stream} was made by a create that no client sent.`);
    seen.add(first);
  }
  return { doubled, doneUnanswered: [...unansweredCreates].filter((create) => seen.has(create)) };
}
