import { type Aggregate, clients, collections, deposits, people } from '../../domain/aggregates.ts';
import { clientFacts, describeClientEvent } from '../../domain/client/describe.ts';
import { collectionFacts, describeCollectionEvent } from '../../domain/collection/describe.ts';
import { depositFacts } from '../../domain/deposit/deposit-facts.ts';
import { describeDepositEvent } from '../../domain/deposit/describe.ts';
import { type Description, description, type Fact } from '../../domain/description.ts';
import { describePersonEvent, personFacts } from '../../domain/person/describe.ts';
import type { EventLog, RecordedEvent } from '../../event-log/event-log.ts';
import { chainHash } from '../../event-log/integrity/hash-chain.ts';
import { toPosition } from '../../event-log/position.ts';
import { contentFault, isTooDeep } from './content-fault.ts';

/** The subject of a history: one stream of the log. */
export type Subject = {
  /** For example "Deposit 1". */
  readonly name: string;
  /** Yields the history from the beginning, event by event; nothing if the stream does not exist. */
  readonly steps: (log: EventLog) => AsyncGenerator<Step>;
};

/** An event, and the state after it. */
export type Step = {
  readonly stored: RecordedEvent;
  /** Why the event cannot be the one that was appended; `undefined` if it fits. */
  readonly fault: string | undefined;
  /** Why this release cannot read the event; the state is that before it. */
  readonly unknown: string | undefined;
  readonly description: Description;
  readonly state: { readonly status: string };
  readonly facts: readonly Fact[];
};

/** Functions that return a subject by its id or name, for each kind. */
export const subjectOf = {
  deposit: (id: string) => subject(`Deposit ${id}`, id, deposits, describeDepositEvent, depositFacts),
  client: (name: string) => subject(`Client ${name}`, name, clients, describeClientEvent, clientFacts),
  collection: (name: string) =>
    subject(`Collection ${name}`, name, collections, describeCollectionEvent, collectionFacts),
  person: (name: string) => subject(`Person ${name}`, name, people, describePersonEvent, personFacts),
};

function subject<State extends { readonly status: string }, Command, Event>(
  name: string,
  id: string,
  { prefix, decider, codec }: Aggregate<State, Command, Event>,
  describe: (event: Event) => Description,
  factsOf: (state: State) => readonly Fact[],
): Subject {
  const stream = `${prefix}${id}`;
  return { name, steps };

  async function* steps(log: EventLog): AsyncGenerator<Step> {
    const check = chainCheck(stream);
    let state = decider.initial;
    for await (const event of log.readStream(stream)) {
      const fault = check(event);
      const stored = isTooDeep(event) ? { ...event, data: {}, metadata: {} } : event;
      const { after, facts, description, unknown } = read(stored, state);
      state = after;
      yield { stored, fault, unknown, description, state, facts };
    }
  }

  /** Reads an event. An unreadable one changes no state, and the rest of the history is still shown. */
  function read(stored: RecordedEvent, state: State) {
    try {
      const event = codec.read(stored);
      const after = decider.evolve(state, event);
      return { after, facts: factsOf(after), description: describe(event), unknown: undefined };
    } catch (error) {
      const unknown = (error as Error).message;
      return { after: state, facts: factsOf(state), description: description(`${stored.type}.`), unknown };
    }
  }
}

/** Returns a function that recomputes the hash of each event and checks that it follows the previous one. */
function chainCheck(stream: string): (event: RecordedEvent) => string | undefined {
  let [revision, hash, position]: [number, string | null, string] = [0, null, toPosition(0)];
  return (event) => {
    const [expected, before, carried] = [revision, hash, chainHash(event)];
    const isBehind = event.position > position;
    revision = event.revision + 1;
    hash = carried;
    if (isBehind) position = event.position;
    if (event.revision !== expected) return `it is event ${event.revision} where ${expected} was expected`;
    if (!isBehind) return 'its position in the log is not after that of the previous event';
    const fault = contentFault({ ...event, stream });
    if (fault !== undefined) return fault;
    if (event.metadata['prevHash'] !== before) return 'it does not name the hash of the event before it';
    return undefined;
  };
}
