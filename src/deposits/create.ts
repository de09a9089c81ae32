import { deposits } from '../domain/aggregates.ts';
import type { Command } from '../domain/deposit/commands.ts';
import { originBelow } from '../domain/deposit/metadata/origin.ts';
import type { Iris } from '../sword/iris.ts';
import { clock } from '../tools/clock.ts';
import { random } from '../tools/random.ts';
import {
  appendWrite,
  type ClientWrite,
  type CommandIds,
  clientContext,
  type DepositParts,
  type ReceivedContent,
  type Written,
} from './client-write.ts';
import { handleCommand } from './command-handler.ts';
import type { IdempotencyRecord } from './idempotency/idempotency-store.ts';
import { requestFingerprints } from './idempotency/request-fingerprint.ts';

export type NewDeposit = ClientWrite & {
  readonly collection: string;
  readonly iris: Pick<Iris, 'deposit' | 'edit'>;
};

/** Creates a deposit from the content of one request, as one append to a new stream. */
export async function createDeposit(parts: DepositParts, write: NewDeposit): Promise<Written> {
  const { log, ids, keys, queries, kept } = parts;
  const { key, requestId, isRepeated } = write;
  const content = await write.receive();
  await write.confirm();
  const retries = queries.retries();
  const newId = () => ids.next(retries.since);
  const request = key
    ? await keys.begin(
        key,
        {
          requestId,
          fingerprints: requestFingerprints(write, content),
          newId,
          linksOf: (earlier) => linkTo(earlier, queries, write),
        },
        retries,
      )
    : withoutKey(await newId(), requestId);
  const { depositId } = request;
  const now = clock.date().toISOString(); // an earlier request with the key may be days old
  const command = creation(write, content, request, now);
  const context = clientContext(write, request, now);
  const fresh = request.requestId === requestId; // else an earlier request with the key may have created it
  const atLeast = isRepeated ? 0 : undefined; // the stream has the events of what was executed
  const append = () =>
    handleCommand(log, deposits, depositId, command, context, { fresh, atLeast, retries, kept });
  return appendWrite(parts, write, { content, command: request, retries, append });
}

/** Returns the link to the deposit that an earlier request with the key has created, if it was executed. */
async function linkTo(
  earlier: IdempotencyRecord,
  queries: DepositParts['queries'],
  { iris }: NewDeposit,
): Promise<Readonly<Record<string, string>>> {
  const collection = await queries.collectionOf(earlier);
  return collection === undefined
    ? {}
    : { Link: `<${iris.edit(collection, earlier.depositId)}>; rel="edit"` };
}

type CreationIds = CommandIds & Pick<IdempotencyRecord, 'uuid'>;

function withoutKey(depositId: number, requestId: string): CreationIds {
  return { commandId: requestId, depositId, uuid: random.uuid(), requestId };
}

function creation(
  { login: { client, providerUrl, domain }, collection, slug, isFinal, iris }: NewDeposit,
  { archive, entry, target }: ReceivedContent,
  { depositId, uuid }: CreationIds,
  now: string,
): Command<'CreateDeposit' | 'DepositMetadata'> {
  // The origin of a deposit whose metadata name none.
  const fallbackOrigin =
    providerUrl === null ? iris.deposit(collection, depositId) : originBelow(providerUrl, slug ?? uuid);
  const made = { depositId, uuid, client, collection, now, providerUrl, fallbackOrigin };
  if (entry && target) return { type: 'DepositMetadata', ...made, domain, entry, target };
  return { type: 'CreateDeposit', ...made, slug, archive, entry, isFinal };
}
