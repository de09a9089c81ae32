import { hash } from 'node:crypto';
import type { ExpectedRevision, Json, JsonObject, NewEvent } from '../event-log.ts';
import { uuidOf } from '../uuid.ts';

/**
 * Links events that are about to be appended, at the same expected revision, to the chain of their stream. Each event
 * has the hash of its predecessor (`prevHash`, `null` for the first) and its own `hash`: SHA-256 over stream, revision,
 * id, type, data and metadata in canonical form. A change of one event requires changes of all events after it.
 */
export function sealAfter(
  stream: string,
  expected: ExpectedRevision,
  prevHash: string | null,
  events: readonly NewEvent[],
): NewEvent[] {
  const firstRevision = expected === 'none' ? 0 : expected + 1;
  let previous = prevHash;
  return events.map((event, index) => {
    const metadata = { ...event.metadata, prevHash: previous };
    previous = hashOf(stream, firstRevision + index, { ...event, metadata });
    return { ...event, metadata: { ...metadata, hash: previous } };
  });
}

/** Returns the hash that an event must carry, computed from everything else in it. */
export function hashOf(stream: string, revision: number, event: NewEvent): string {
  const { hash: _carried, ...metadata } = event.metadata;
  const { id, type, data } = event;
  return hash('sha256', canonicalJson({ stream, revision, id, type, data, metadata }));
}

/** Returns the `prevHash` of the event after this one; `null` when there is no event or no hash. */
export function chainHash(event: Pick<NewEvent, 'metadata'> | undefined): string | null {
  const hash = event?.metadata['hash'];
  return typeof hash === 'string' ? hash : null;
}

/** Serialises JSON with the keys of every object in UTF-16 order and without white space (as in RFC 8785). */
export function canonicalJson(value: Json): string {
  return JSON.stringify(inKeyOrder(value));
}

/** Returns a copy in which `JSON.stringify` finds the keys of every object in UTF-16 order. */
function inKeyOrder(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(inKeyOrder);
  const object = value as JsonObject;
  const keys = Object.keys(object).sort();
  if (keys.some(isOrderedByEngine)) {
    const copy = Object.fromEntries(keys.map((key) => [key, inKeyOrder(object[key] as Json)]));
    return new Proxy(copy, { ownKeys: () => keys });
  }
  const copy: Record<string, Json> = {};
  for (const key of keys) copy[key] = inKeyOrder(object[key] as Json);
  return copy;
}

/** Whether assigning the key would not add it at the end: whole numbers come first, `__proto__` is no key at all. */
function isOrderedByEngine(key: string): boolean {
  return (key >= '0' && key < ':') || key === '__proto__';
}

/**
 * Maximum nesting: far more than any event has, and far less than {@link canonicalJson} needs to overflow the stack.
 */
const DEEPEST = 100;

/** Whether a value is nested too deeply for {@link canonicalJson}; this service never writes such a value. */
export function isNestedTooDeeply(value: Json, levels = DEEPEST): boolean {
  if (value === null || typeof value !== 'object') return false;
  return levels === 0 || Object.values(value).some((each: Json) => isNestedTooDeeply(each, levels - 1));
}

/** Returns a UUID version 5 in the namespace of this service: the same command gives its events the same ids. */
export function eventId(commandId: string, index: number): string {
  const named = Buffer.concat([NAMESPACE, Buffer.from(`${commandId}/${index}`)]);
  const digits = hash('sha1', named);
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return uuidOf(`${digits.slice(0, 12)}5${digits.slice(13, 16)}${variant}${digits.slice(17, 32)}`);
}

const NAMESPACE = Buffer.from('4c0d6f5e0d2b4e5c9a3f7b1e8d6a2c94', 'hex');
