import { deposits } from '../src/domain/aggregates.ts';
import type { DepositEvent } from '../src/domain/deposit/events.ts';
import type { Projection } from '../src/views/projection.ts';

/** The identifiers of a deposit: `null` until it is loaded, then 40 hex digits each. */
export type LoadedObjects = {
  readonly depositId: number;
  readonly client: string;
  readonly collection: string;
  readonly origin: string | null;
  readonly directory: string | null;
  readonly revision: string | null;
  readonly snapshot: string | null;
};

/** Indexes that find the deposits of a client with a given object. */
export const objectIndexes = {
  revision: ['client', 'revision'],
  snapshot: ['client', 'snapshot'],
  newest: ['client', 'collection', 'depositId'],
  newestOfDirectory: ['client', 'directory', 'collection', 'depositId'],
  newestOfDirectoryAndOrigin: ['client', 'directory', 'origin', 'collection', 'depositId'],
} as const;

export const loadedObjects: Projection<LoadedObjects, DepositEvent> = {
  name: 'loaded-objects',
  version: 3,
  source: deposits,
  indexes: Object.values(objectIndexes),
  when: {
    DepositCreated: (_, { data: { depositId, client, collection } }) => ({
      depositId,
      client,
      collection,
      origin: null,
      directory: null,
      revision: null,
      snapshot: null,
    }),
    DepositDeleted: () => undefined,
    DepositLoaded: (view, { data: { origin, directory, revision, snapshot } }) =>
      view && { ...view, origin, directory, revision, snapshot },
  },
};
