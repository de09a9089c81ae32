/**
 * Stored JSON → event. A stored event names the version of its schema; events of older versions are brought
 * up to date by one function a step, so that the rest of the code knows only the newest form.
 */
export type Codec<Event> = {
  /** Every type there is, with the newest version of its schema; all versions from 1 on can be read. */
  readonly versions: ReadonlyMap<string, number>;
  readonly versionOf: (type: string) => number;
  readonly read: (stored: StoredEvent) => Event;
};

export type StoredEvent = {
  readonly type: string;
  readonly data: unknown;
  readonly metadata: { readonly schemaVersion?: unknown };
};

/** From version n to n + 1, at index n − 1. */
type Upcasters = readonly ((data: unknown) => unknown)[];

export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';
  readonly code = 'UNREADABLE_EVENT';
}

/** A codec that knows these types, each with the steps its data have gone through since version 1. */
export function codec<Event extends { type: string }>(
  types: Readonly<Record<Event['type'], Upcasters>>,
): Codec<Event> {
  const known = new Map<string, Upcasters>(Object.entries(types));
  const upcastersOf = (type: string): Upcasters => {
    const upcasters = known.get(type);
    if (!upcasters) throw new UnreadableEvent(`No event of this service is called ${type}.`);
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
          `A ${type} of schema version ${String(version)} cannot be read by this release: start the one that wrote it.`,
        );
      }
      const current = upcasters.slice(version - 1).reduce((older, upcast) => upcast(older), data);
      return { type, data: current } as unknown as Event; // written by this service, brought up to date above
    },
  };
}
