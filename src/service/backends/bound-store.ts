import type { Config } from '../../config/config.ts';
import { objectsReferenced } from '../../deposits/objects-in-log.ts';
import { type EventLog, WrongExpectedRevision } from '../../event-log/event-log.ts';
import { listReadiness } from '../../object-store/list-readiness.ts';
import { type ObjectStore, ObjectStoreUnavailable } from '../../object-store/object-store.ts';
import { DigestSet } from '../../tools/digest-set.ts';
import { exists } from '../../tools/files/access.ts';
import { random } from '../../tools/random.ts';
import { openStore, type StoreOptions } from './open-store.ts';
import { hasMark } from './own-folder.ts';
import { appendBinding, assertSameId, boundStore, OtherStore } from './store-binding.ts';

/** Minimum share of the objects named by events that a store must have to be accepted as the store of the log. */
const ENOUGH = 0.99;
const DIGEST_BYTES = 32;

/**
 * Opens the store that belongs to the log. At the first start both get an id. A store that must exist already is never
 * created.
 * @throws {OtherStore}
 * @throws {ObjectStoreUnavailable}
 */
export async function openBoundStore(
  config: Pick<Config, 'archiveStore' | 'dataDir'>,
  log: EventLog,
  options: Omit<StoreOptions, 'mustExist'> = {},
): Promise<ObjectStore> {
  const mustExist = (await boundStore(log)) !== undefined || (await namesObjects(log));
  if (mustExist) assertFolder(config);
  const store = await openStore(config, { ...options, mustExist });
  try {
    await bind(log, store);
    return store;
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Binds the log and the store. The id of the store is read first, since another node that starts writes it after its
 * event.
 */
async function bind(log: EventLog, store: ObjectStore): Promise<void> {
  const id = await store.id();
  const bound = await boundStore(log);
  if (id !== undefined) return assertSameId(bound, id);
  const storeId = bound ?? (await newBinding(log, store));
  await assertBound(storeId, log, store);
  await store.setId(storeId);
}

/**
 * Verifies that this store is the one with the id of the log: the id was proposed to it, another node has written it
 * meanwhile, or the store is a copy with all objects that the log names.
 * @throws {OtherStore}
 */
async function assertBound(storeId: string, log: EventLog, store: ObjectStore): Promise<void> {
  if (await store.isProposed(storeId)) return;
  const id = await store.id(); // with it, the other node has removed its proposal
  if (id === undefined && (await namesObjects(log))) return await assertStoreOf(log, store);
  assertSameId(storeId, id);
}

/**
 * Resolves to the new id of the store of the log, which may be the one that another node has chosen. It is proposed to
 * the store before the log names it: so a node recognizes its store after a crash, and another node that shares it.
 */
async function newBinding(log: EventLog, store: ObjectStore): Promise<string> {
  await assertStoreOf(log, store);
  const storeId = random.uuid();
  await store.proposeId(storeId);
  try {
    await appendBinding(log, storeId, undefined);
    return storeId;
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error;
    const ofOtherNode = await boundStore(log);
    if (ofOtherNode === undefined) throw error;
    return ofOtherNode;
  }
}

/**
 * Verifies that a store without an id has the objects that the events of the log name.
 * @throws {OtherStore}
 * @throws {ObjectStoreUnavailable} the list of its objects may be incomplete
 */
export async function assertStoreOf(log: EventLog, store: ObjectStore): Promise<void> {
  const named = new DigestSet(DIGEST_BYTES);
  for await (const { sha256 } of objectsReferenced(log)) named.add(Buffer.from(sha256, 'hex'));
  let [listed, present] = [0, 0];
  const before = await listReadiness(store);
  for await (const { sha256 } of store.list()) {
    listed += 1;
    if (named.has(Buffer.from(sha256, 'hex'))) present += 1;
  }
  const reason = before ?? (await listReadiness(store));
  if (reason !== null) throw new ObjectStoreUnavailable(`Cannot list the archive store: ${reason}`);
  if (present < named.size * ENOUGH) throw incompleteStoreError(present, named.size);
  if (named.size === 0 && listed > 0 && (await isNew(log))) throw foreignStoreError(listed);
}

/**
 * Whether the log is new. A log that names no object belongs to a store with objects only if uploads failed before its
 * store got an id.
 */
async function isNew(log: EventLog): Promise<boolean> {
  return (await log.head()) === undefined || (await boundStore(log)) !== undefined;
}

async function namesObjects(log: EventLog): Promise<boolean> {
  for await (const _named of objectsReferenced(log)) return true;
  return false;
}

function assertFolder({ archiveStore }: Pick<Config, 'archiveStore'>): void {
  if (archiveStore.kind !== 'file') return;
  const { folder } = archiveStore;
  if (exists(folder) && hasMark('archive store', folder)) return;
  throw new OtherStore(
    `The event log belongs to an archive store, but there is none at ${folder}: mount its disk, restore the archives, or check DEPOSIT_ARCHIVE_STORE. If all objects are lost, "deposit-service bind --incomplete" creates an empty store.`,
  );
}

function incompleteStoreError(present: number, named: number): OtherStore {
  return new OtherStore(
    `The archive store has no id, and only ${present} of the ${named} objects that the event log names: restore the archives, or check DEPOSIT_EVENT_LOG and DEPOSIT_ARCHIVE_STORE. If the others are lost, "deposit-service bind --incomplete" binds both.`,
  );
}

function foreignStoreError(listed: number): OtherStore {
  return new OtherStore(
    `The archive store has no id but ${listed} objects, and the event log names none of them: check DEPOSIT_EVENT_LOG and DEPOSIT_ARCHIVE_STORE. If both are right, "deposit-service bind --incomplete" binds them.`,
  );
}
