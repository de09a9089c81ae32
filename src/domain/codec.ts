/**
 * Reads stored JSON as events. A stored event names the version of its schema. One function per step upgrades events of
 * older versions, so that the rest of the code knows only the newest form.
 */
export type Codec<Event> = {
  /** Every event type with the newest version of its schema. All versions from 1 on can be read. */
  readonly versions: ReadonlyMap<string, number>;
  readonly versionOf: (type: string) => number;
  readonly read: (stored: StoredEvent) => Event;
};

type StoredEvent = {
  readonly type: string;
  readonly data: unknown;
  readonly metadata: { readonly schemaVersion?: unknown };
};

/** Upgrades of an event's data; the one at index n − 1 leads from version n to n + 1. */
type Upcasters = readonly ((data: unknown) => unknown)[];

export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';
  readonly code = 'UNREADABLE_EVENT';
}

/** Returns a codec for these types, each with the upcasters that its data have needed since version 1. */
export function codec<Event extends { type: string }>(
  types: Readonly<Record<Event['type'], Upcasters>>,
): Codec<Event> {
  const known = new Map<string, Upcasters>(Object.entries(types));
  const upcastersOf = (type: string): Upcasters => {
    const upcasters = known.get(type);
    if (!upcasters) throw new UnreadableEvent(`There is no event type ${type}.`);
    return upcasters;
  };
  return {
    versions: new Map([...known].map(([type, upcasters]) => [type, upcasters.length + 1])),
    versionOf: (type) => upcastersOf(type).length + 1,
    read: ({ type, data, metadata }) => {
      const upcasters = upcastersOf(type);
      const version = metadata.schemaVersion;
      if (typeof version !== 'number' || version < 1 || version > upcasters.length + 1) {
        throw new UnreadableEvent(
          `A ${type} of schema version ${String(version)} cannot be read by this release: start the release that wrote it.`,
        );
      }
      let current = data;
      for (let next = version; next <= upcasters.length; next += 1) current = upcasters[next - 1]?.(current);
      return { type, data: current } as unknown as Event; // written by this service, brought up to date above
    },
  };
}
