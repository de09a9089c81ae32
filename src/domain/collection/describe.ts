import { type Description, describedBy, description, detail, type Fact } from '../description.ts';
import type { Collection, CollectionEvent } from './collection.ts';

/** Describes an event of a collection in plain text. */
export const describeCollectionEvent: (event: CollectionEvent) => Description = describedBy<CollectionEvent>({
  CollectionOpened: ({ collection }) => description(`Collection ${collection} opened.`),
  CollectionDescribed: ({ title, abstract, treatment }) =>
    description(
      'Description of the collection changed.',
      detail('title', title),
      detail('abstract', abstract),
      detail('treatment', treatment),
    ),
  PolicyChanged: ({ policy }) => description('Policy changed.', detail('policy', policy)),
  AcceptedTypesChanged: ({ accept }) =>
    description('Accepted types changed.', ...accept.map((type) => detail('accept', type))),
});

/** Returns all facts about a collection except its status, for operators to read. */
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
