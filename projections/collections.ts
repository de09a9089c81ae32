import { collections as collectionStreams } from '../src/domain/aggregates.ts';
import { type CollectionEvent, newCollection } from '../src/domain/collection/collection.ts';
import type { Projection } from '../src/views/projection.ts';

/** The part of the service document about one collection. */
export type CollectionView = {
  readonly collection: string;
  readonly title: string;
  readonly abstract: string;
  readonly treatment: string;
  readonly policy: string;
  readonly accept: readonly string[];
  /** When its description last changed; `null` if it never did. */
  readonly describedAt: string | null;
};

export const collections: Projection<CollectionView, CollectionEvent> = {
  name: 'collections',
  version: 2,
  source: collectionStreams,
  when: {
    CollectionOpened: (_, { data: { collection } }) => {
      const { title, abstract, treatment, policy, accept } = newCollection(collection);
      return { collection, title, abstract, treatment, policy, accept, describedAt: null };
    },
    CollectionDescribed: (view, { data: { title, abstract, treatment }, occurredAt }) =>
      view && { ...view, title, abstract, treatment, describedAt: occurredAt },
    PolicyChanged: (view, { data: { policy } }) => view && { ...view, policy },
    AcceptedTypesChanged: (view, { data: { accept } }) => view && { ...view, accept },
  },
};
