import { deposits } from '../domain/aggregates.ts';
import type { Change, DepositCommand } from '../domain/deposit/commands.ts';
import type { OutageRetries } from '../event-log/outage-retries.ts';
import { badRequest } from '../sword/sword-error.ts';
import { clock } from '../tools/clock.ts';
import {
  appendWrite,
  type ClientWrite,
  clientContext,
  type DepositParts,
  type ReceivedContent,
  type Written,
} from './client-write.ts';
import { assertPossible, handleCommand } from './command-handler.ts';
import type { IdempotencyKey, IdempotencyStore } from './idempotency/idempotency-store.ts';
import { requestFingerprints } from './idempotency/request-fingerprint.ts';

/** Changes the content of a partial deposit, and completes it if this is its final request. */
export function changeContent(
  parts: DepositParts,
  depositId: number,
  write: ClientWrite,
  changeOf: (content: Pick<ReceivedContent, 'archive' | 'entry'>) => Change,
): Promise<Written> {
  const { maxArchives } = parts;
  const { isFinal, login } = write;
  return changeDeposit(parts, depositId, write, ({ archive, entry }, now) => {
    const change = changeOf({ archive, entry });
    const { providerUrl } = login;
    return { type: 'ChangeDeposit', depositId, change, isFinal, maxArchives, now, providerUrl };
  });
}

/** Adds metadata to a deposit that is done. `swhid` is the identifier by which the client names it. */
export function updateMetadata(
  parts: DepositParts,
  depositId: number,
  write: ClientWrite,
  swhid: string,
): Promise<Written> {
  const { providerUrl, domain } = write.login;
  return changeDeposit(parts, depositId, write, ({ entry }) => {
    if (!entry) throw badRequest('The body has no metadata entry.');
    return { type: 'UpdateMetadata', depositId, swhid, entry, providerUrl, domain };
  });
}

/** Completes a partial deposit. One that is already completed stays as it is. */
export function completeDeposit(
  parts: DepositParts,
  depositId: number,
  write: ClientWrite,
): Promise<Written> {
  return changeDeposit(parts, depositId, write, (_content, now) => ({
    type: 'CompleteDeposit',
    depositId,
    now,
  }));
}

/** Deletes a partial deposit. Its events stay in the log. */
export function removeDeposit(parts: DepositParts, depositId: number, write: ClientWrite): Promise<Written> {
  const reason = 'Deleted by the client.';
  return changeDeposit(parts, depositId, write, () => ({ type: 'DeleteDeposit', depositId, reason }));
}

/** Changes a deposit by a command made of the request's content. A refusal leaves its idempotency key unused. */
async function changeDeposit(
  parts: DepositParts,
  depositId: number,
  write: ClientWrite,
  commandOf: (content: ReceivedContent, now: string) => DepositCommand,
): Promise<Written> {
  const content = await write.receive();
  await write.confirm();
  const retries = parts.queries.retries();
  const { atRevision } = write;
  const options = { retries, kept: parts.kept, ...(atRevision !== undefined && { atRevision }) };
  const now = clock.date().toISOString();
  const command = commandOf(content, now);
  const possible = () => assertPossible(parts.log, deposits, depositId, [command], options);
  const key = write.key && (await usableKey(parts.keys, write.key, possible, retries));
  const request = key
    ? await parts.keys.begin(
        key,
        {
          requestId: write.requestId,
          fingerprints: requestFingerprints(write, content),
          newId: async () => depositId,
        },
        retries,
      )
    : { commandId: write.requestId, depositId, requestId: write.requestId };
  const context = clientContext(write, request, now);
  const append = () => handleCommand(parts.log, deposits, depositId, command, context, options);
  return appendWrite(parts, write, { content, command: request, retries, append });
}

/** Returns the key, unless the command is refused. A parallel request with the key may have executed it. */
async function usableKey(
  keys: IdempotencyStore,
  loaded: IdempotencyKey,
  possible: () => Promise<void>,
  retries: OutageRetries,
): Promise<IdempotencyKey> {
  if (loaded.earlier) return loaded;
  try {
    await possible();
    return loaded;
  } catch (refusal) {
    const key = await keys.load(loaded.client, loaded.text, retries.since);
    if (!key.earlier) throw refusal;
    return key;
  }
}
