import { everyView } from '../../../../../projections/every-view.ts';
import { deposits } from '../../../../domain/aggregates.ts';
import { describeDepositEvent } from '../../../../domain/deposit/describe.ts';
import type { Deposit } from '../../../../domain/deposit/state.ts';
import type { Description } from '../../../../domain/description.ts';
import type { Json } from '../../proof/canonical-json.ts';
import type { ProvenEvent } from '../../proof/evidence.ts';
import { momentOf } from '../../protocol/moment.ts';

/** An event of a stream, as the console sends it. */
export type StreamEvent = ProvenEvent & { readonly position: string };

/** An event of a deposit, with the state before and after it, folded by the rules of the service. */
export type HistoryStep = {
  readonly event: StreamEvent;
  readonly occurredAt: string;
  /** For example `client alice`. */
  readonly actor: string;
  readonly correlationId: string;
  readonly description: Description;
  readonly before: Deposit;
  readonly after: Deposit;
  /** Milliseconds since the event before it; 0 for the first. */
  readonly gapMs: number;
  /** Whether another request or reactor caused it than the event before it. */
  readonly isNewRequest: boolean;
  /** Why the event cannot be read; it then changes nothing. */
  readonly fault: string | undefined;
};

/** A step with what its hash says: `fault` is also that of the hash, once it was recomputed. */
export type CheckedStep = HistoryStep & { readonly isHashed: boolean };

/** Folds the events of a deposit step by step. */
export function historyOf(events: readonly StreamEvent[]): HistoryStep[] {
  const steps: HistoryStep[] = [];
  let state = deposits.decider.initial;
  for (const event of events) {
    const last = steps.at(-1);
    const known = metadataOf(event);
    const gapMs = last ? Date.parse(known.occurredAt) - Date.parse(last.occurredAt) : 0;
    const read = readEvent(event, state);
    const isNewRequest = last?.correlationId !== known.correlationId;
    steps.push({ event, ...known, ...read, before: state, gapMs, isNewRequest });
    state = read.after;
  }
  return steps;
}

function readEvent(
  event: StreamEvent,
  before: Deposit,
): Pick<HistoryStep, 'after' | 'description' | 'fault'> {
  try {
    const known = deposits.codec.read(event);
    const after = deposits.decider.evolve(before, known);
    return { after, description: describeDepositEvent(known), fault: undefined };
  } catch (error) {
    const description = { sentence: `${event.type}.`, details: [] };
    return { after: before, description, fault: (error as Error).message };
  }
}

function metadataOf({ metadata }: StreamEvent): Pick<HistoryStep, 'occurredAt' | 'actor' | 'correlationId'> {
  const { kind, name } = Object(metadata['actor']) as { readonly kind?: Json; readonly name?: Json };
  return {
    occurredAt: textOf(metadata['occurredAt']),
    actor: `${textOf(kind)} ${textOf(name)}`.trim(),
    correlationId: textOf(metadata['$correlationId']),
  };
}

/** Returns a text of an event; an event that was tampered with may contain any value. */
function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Returns the index of the step that an address names: by a revision, or by a time, for the last event until then.
 * Without it the last one; -1 if the deposit did not exist yet.
 */
export function stepAt(steps: readonly HistoryStep[], at: string | null): number {
  if (at === null || at === '') return steps.length - 1;
  if (/^\d+$/.test(at)) return steps.findLastIndex(({ event }) => event.revision <= Number(at));
  const time = momentOf(at);
  if (time === undefined) return steps.length - 1;
  return steps.findLastIndex(({ occurredAt }) => Date.parse(occurredAt) <= time);
}

/** One view of the deposit around an event: what the projection shows before and after it. */
export type ViewStep = {
  readonly view: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  /** The message of the handler that failed, and the revision of its event. */
  readonly fault: string | undefined;
};

/** Folds every view of deposits until an event, and over it. Views that do not handle the type are left out. */
export function viewsAround(events: readonly StreamEvent[], index: number): ViewStep[] {
  const type = events[index]?.type ?? '';
  return everyView
    .filter(({ source, when }) => source.prefix === deposits.prefix && type in when)
    .map((projection) => foldAround(projection, events.slice(0, index + 1)));
}

function foldAround(
  { name, when, complete = (view) => view }: (typeof everyView)[number],
  events: readonly StreamEvent[],
): ViewStep {
  let [before, after]: (Json | undefined)[] = [];
  for (const stored of events) {
    before = after;
    try {
      const { id, revision, position, metadata } = stored;
      const { occurredAt, correlationId } = metadataOf(stored);
      const actor = metadata['actor'] as { readonly kind: string; readonly name: string } | undefined;
      const event = {
        ...deposits.codec.read(stored),
        id,
        occurredAt,
        revision,
        position,
        actor,
        correlationId,
      };
      const handler = when[stored.type];
      const view = handler ? handler(before, event) : before;
      after = (view && complete(view)) as Json | undefined; // views are plain JSON
    } catch (error) {
      return { view: name, before, after: before, fault: `#${stored.revision}: ${(error as Error).message}` };
    }
  }
  return { view: name, before, after, fault: undefined };
}
