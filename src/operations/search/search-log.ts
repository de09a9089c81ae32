import { findEntry } from '../../archives/tree/manifest-reads.ts';
import { clients, depositOfStream } from '../../domain/aggregates.ts';
import type { DepositLoaded } from '../../domain/deposit/events.ts';
import type { EventLog, Json, RecordedEvent } from '../../event-log/event-log.ts';
import { ObjectError, type ObjectStore } from '../../object-store/object-store.ts';
import { escapePath } from '../../swhid/escape-path.ts';
import { pathInTree } from '../../swhid/swhid.ts';
import { contentFault, isTooDeep } from '../history/content-fault.ts';
import { actorText, timeOf } from '../history/history-metadata.ts';
import { matchingFields, maybeInside, type SearchTerm } from './search-term.ts';

/** Conditions on events; all of them must hold. */
export type SearchConditions = {
  readonly term?: SearchTerm | undefined;
  readonly types?: readonly string[] | undefined;
  /** Events of the deposits of this client, and of the client itself. */
  readonly client?: string | undefined;
  /** Name of the actor, or `kind name`. */
  readonly actor?: string | undefined;
  /** Code of a reason or warning, or a part of its text. */
  readonly reason?: string | undefined;
  /** Milliseconds since 1970, inclusive. */
  readonly since?: number | undefined;
  /** Milliseconds since 1970, exclusive. */
  readonly until?: number | undefined;
  /** Only the loading of deposits that were rejected before. */
  readonly acceptedLater?: boolean | undefined;
};

export type FoundEvent = {
  readonly event: RecordedEvent;
  /** Id of the deposit; `null` for events of other streams. */
  readonly depositId: number | null;
  /** Fields that have the searched value; for an object inside a deposit its path as in a SWHID, `path /src/a.c`. */
  readonly fields: readonly string[];
  /** Why the event by itself cannot be the one that was appended; `undefined` if its contents fit its hash. */
  readonly fault: string | undefined;
};

/** The store, of which objects are only read. */
type ReadableStore = Pick<ObjectStore, 'get'>;

export type SearchOptions = {
  /** Opens the object store. Called only if manifests must be read. */
  readonly openStore: () => Promise<ReadableStore>;
  /** Called with a sentence for each deposit whose manifest cannot be read, and each event that cannot be searched. */
  readonly onUnread: (problem: string) => void;
  readonly progress?: (events: number) => void;
};

/**
 * Yields the events that fulfil all conditions, in the order of the log. Reads the log once. Memory grows only with the
 * deposits of the client, and with rejected ones.
 */
export async function* searchLog(
  log: Pick<EventLog, 'readAll'>,
  conditions: SearchConditions,
  { openStore, onUnread, progress }: SearchOptions,
): AsyncGenerator<FoundEvent> {
  const belongsToClient = ownerCheck(conditions.client);
  const isAcceptedLater = acceptanceCheck();
  let store: ReadableStore | undefined;
  let read = 0;
  for await (const event of log.readAll()) {
    progress?.((read += 1));
    const isOfClient = belongsToClient(event);
    const wasRejected = isAcceptedLater(event);
    if (!isOfClient || (conditions.acceptedLater && !wasRejected)) continue;
    const isDeep = isTooDeep(event);
    if (isDeep) onUnread(tooDeepText(event));
    if (isDeep || !fits(event, conditions)) continue;
    const { term } = conditions;
    const fields = term === undefined ? [] : matchingFields(event, term);
    if (term !== undefined && fields.length === 0 && maybeInside(event, term)) {
      store ??= await openStore();
      const path = await pathInside(store, event, term).catch((error) => onUnread(unread(event, error)));
      if (path !== undefined) fields.push(`path /${escapePath(path)}`);
    }
    if (term === undefined || fields.length > 0)
      yield { event, depositId: depositOfStream(event.stream), fields, fault: contentFault(event) };
  }
}

/** Returns a check of every event in order whether it belongs to the client. */
function ownerCheck(client: string | undefined): (event: RecordedEvent) => boolean {
  const streams = new Set([`${clients.prefix}${client}`]);
  return ({ type, stream, data }) => {
    if (client === undefined) return true;
    if (type === 'DepositCreated' && data['client'] === client) streams.add(stream);
    return streams.has(stream);
  };
}

/** Returns a check of every event in order whether it loads a deposit that was rejected before. */
function acceptanceCheck(): (event: RecordedEvent) => boolean {
  const rejected = new Set<string>();
  return ({ type, stream }) => {
    if (type === 'DepositRejected') rejected.add(stream);
    return type === 'DepositLoaded' && rejected.delete(stream);
  };
}

function fits(event: RecordedEvent, { types, actor, reason, since, until }: SearchConditions): boolean {
  const time = since === undefined && until === undefined ? 0 : Date.parse(timeOf(event));
  return (
    (types === undefined || types.includes(event.type)) &&
    (actor === undefined || isBy(event, actor)) &&
    (reason === undefined || hasReason(event.data, reason.toLowerCase())) &&
    (since === undefined || time >= since) &&
    (until === undefined || time < until)
  );
}

function isBy(event: RecordedEvent, actor: string): boolean {
  const whole = actorText(event);
  return whole === actor || whole.endsWith(` ${actor}`);
}

/** Whether a reason or warning anywhere in the data has this code, or this text in lower case. */
function hasReason(value: Json | undefined, wanted: string): boolean {
  if (value === null || typeof value !== 'object') return false;
  const { code, text, reason } = value as { readonly [key: string]: Json | undefined };
  if (typeof code === 'string' && typeof text === 'string')
    return code.toLowerCase() === wanted || text.toLowerCase().includes(wanted);
  if (typeof reason === 'string' && reason.toLowerCase().includes(wanted)) return true;
  return Object.values(value).some((inner) => hasReason(inner, wanted));
}

function tooDeepText({ type, revision, stream }: RecordedEvent): string {
  return `The ${type} at revision ${revision} of ${stream} was not searched: its contents nest deeper than those of any event.`;
}

function unread({ stream }: RecordedEvent, error: unknown): string {
  if (!(error instanceof ObjectError)) throw error;
  return `The files of deposit ${depositOfStream(stream)} were not searched: ${error.message}`;
}

async function pathInside(
  store: ReadableStore,
  { data }: RecordedEvent,
  term: SearchTerm,
): Promise<string | undefined> {
  if (term.kind !== 'swhid') return undefined;
  const { type, id, qualifiers } = term.swhid;
  const { manifest } = data as DepositLoaded['data'];
  const path = pathInTree(qualifiers);
  const { body } = await store.get(manifest);
  const query = { kind: type === 'dir' ? 'directory' : 'leaf', id, ...(path && { path }) } as const;
  return (await findEntry(body, query))?.path;
}
