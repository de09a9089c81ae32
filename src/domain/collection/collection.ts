import { type Decider, Refusal } from '../decider.ts';

/** Events of a collection. */
export type CollectionEvent =
  | { type: 'CollectionOpened'; data: { collection: string } }
  | { type: 'CollectionDescribed'; data: { collection: string } & CollectionDescription }
  | { type: 'PolicyChanged'; data: { collection: string; policy: string } }
  | { type: 'AcceptedTypesChanged'; data: { collection: string; accept: readonly string[] } };

/** Texts about a collection in the service document. */
type CollectionDescription = {
  readonly title: string;
  readonly abstract: string;
  readonly treatment: string;
};

export type CollectionCommand =
  | { type: 'OpenCollection'; collection: string }
  | ({ type: 'DescribeCollection'; collection: string } & Partial<CollectionDescription>)
  | { type: 'ChangePolicy'; collection: string; policy: string }
  | { type: 'ChangeAcceptedTypes'; collection: string; accept: readonly string[] };

export type Collection =
  | { readonly status: 'unknown' }
  | ({
      readonly status: 'open';
      readonly policy: string;
      readonly accept: readonly string[];
    } & CollectionDescription);

type CollectionRefusalCode =
  | 'COLLECTION_EXISTS'
  | 'COLLECTION_UNKNOWN'
  | 'BAD_COLLECTION_NAME'
  | 'BAD_COLLECTION_TEXT'
  | 'BAD_ACCEPT';
class CollectionRefusal extends Refusal<CollectionRefusalCode> {}

/** Media types that a collection may accept; `application/x-tar` includes compressed tars. */
export const ACCEPTABLE_TYPES = ['application/zip', 'application/x-tar'] as const;

const DEFAULT_POLICY = 'Source code with its metadata, deposited by its authors or on their behalf.';
const DEFAULT_TREATMENT = 'The deposit is checked, its content is identified by SWHIDs and kept.';

/** Returns the collection as it is before it is described: with default texts. */
export function newCollection(name: string): Extract<Collection, { status: 'open' }> {
  return {
    status: 'open',
    title: name,
    abstract: `Deposits of the collection ${name}.`,
    treatment: DEFAULT_TREATMENT,
    policy: DEFAULT_POLICY,
    accept: ACCEPTABLE_TYPES,
  };
}

export const collectionDecider: Decider<Collection, CollectionCommand, CollectionEvent> = {
  initial: { status: 'unknown' },
  decide,
  evolve,
};

function decide(command: CollectionCommand, collection: Collection): readonly CollectionEvent[] {
  const name = command.collection;
  if (command.type === 'OpenCollection') return open(name, collection);
  if (collection.status === 'unknown') {
    throw new CollectionRefusal('COLLECTION_UNKNOWN', `Collection ${name} not found.`);
  }
  switch (command.type) {
    case 'DescribeCollection': {
      for (const text of ['title', 'abstract', 'treatment'] as const) assertShort(text, command[text]);
      const {
        title = collection.title,
        abstract = collection.abstract,
        treatment = collection.treatment,
      } = command;
      return [{ type: 'CollectionDescribed', data: { collection: name, title, abstract, treatment } }];
    }
    case 'ChangePolicy':
      assertShort('policy', command.policy);
      return [{ type: 'PolicyChanged', data: { collection: name, policy: command.policy } }];
    case 'ChangeAcceptedTypes':
      return [
        {
          type: 'AcceptedTypesChanged',
          data: { collection: name, accept: assertAcceptable(command.accept) },
        },
      ];
    default:
      return command satisfies never;
  }
}

/** Names that mean something else as the segment after `/1/`. */
const RESERVED = ['servicedocument', 'resolve'];

function open(name: string, collection: Collection): readonly CollectionEvent[] {
  if (collection.status === 'open') {
    throw new CollectionRefusal('COLLECTION_EXISTS', `Collection ${name} already exists.`);
  }
  if (!/^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$/.test(name) || RESERVED.includes(name.toLowerCase())) {
    const text = `"${name}" cannot name a collection: use up to 64 of A-Z a-z 0-9 . _ ~ -, beginning with a letter or digit, and none of ${RESERVED.join(', ')}.`;
    throw new CollectionRefusal('BAD_COLLECTION_NAME', text);
  }
  return [{ type: 'CollectionOpened', data: { collection: name } }];
}

/** Maximum characters of a text about a collection. The service document has those of all collections of a client. */
const MAX_TEXT_LENGTH = 1_000;

function assertShort(name: string, text = ''): void {
  if (text.length <= MAX_TEXT_LENGTH) return;
  const message = `The ${name} of a collection has at most ${MAX_TEXT_LENGTH} characters; this one has ${text.length}.`;
  throw new CollectionRefusal('BAD_COLLECTION_TEXT', message);
}

function assertAcceptable(accept: readonly string[]): readonly string[] {
  const known: readonly string[] = ACCEPTABLE_TYPES;
  const unknown = accept.filter((type) => !known.includes(type));
  if (accept.length === 0 || unknown.length > 0) {
    const text = `A collection accepts one or more of ${known.join(', ')}, not "${unknown.join(', ')}".`;
    throw new CollectionRefusal('BAD_ACCEPT', text);
  }
  return [...new Set(accept)];
}

function evolve(collection: Collection, event: CollectionEvent): Collection {
  if (event.type === 'CollectionOpened') return newCollection(event.data.collection);
  const open = collection as Extract<Collection, { status: 'open' }>; // a stream begins with CollectionOpened
  switch (event.type) {
    case 'CollectionDescribed': {
      const { title, abstract, treatment } = event.data;
      return { ...open, title, abstract, treatment };
    }
    case 'PolicyChanged':
      return { ...open, policy: event.data.policy };
    case 'AcceptedTypesChanged':
      return { ...open, accept: event.data.accept };
    default:
      return event satisfies never;
  }
}
