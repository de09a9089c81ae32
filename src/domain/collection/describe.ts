import { type Description, describedBy, detail, type Fact, saying } from '../description.ts';
import type { Collection, CollectionEvent } from './collection.ts';

/** What happened to a collection, told to a person. */
export const describeCollectionEvent: (event: CollectionEvent) => Description = describedBy<CollectionEvent>({
  CollectionOpened: ({ collection }) => saying(`Collection ${collection} opened.`),
  CollectionDescribed: ({ title, abstract, treatment }) =>
    saying(
      'Collection described anew.',
      detail('title', title),
      detail('abstract', abstract),
      detail('treatment', treatment),
    ),
  PolicyChanged: ({ policy }) => saying('Policy changed.', detail('policy', policy)),
  AcceptedTypesChanged: ({ accept }) =>
    saying('Accepted types changed.', ...accept.map((type) => detail('accept', type))),
});

/** All that is known of a collection besides its status, told to a person. */
export function collectionFacts(collection: Collection): readonly Fact[] {
  if (collection.status === 'unknown') return [];
  const { title, abstract, treatment, policy, accept } = collection;
  return [
    { label: 'title', values: [title] },
    { label: 'abstract', values: [abstract] },
    { label: 'treatment', values: [treatment] },
    { label: 'policy', values: [policy] },
    { label: 'accept', values: accept },
  ];
}
