import type { Description } from '../../domain/description.ts';
import { FEED_TYPE } from '../headers/accept.ts';
import type { Iris } from '../iris.ts';
import { element } from '../xml/xml-body.ts';
import { type DepositModel, titleOf, urnOf } from './deposit-model.ts';
import {
  authorFact,
  type Document,
  generatorFact,
  linksFact,
  onlyJson,
  onlyXml,
  type Part,
  type RenderContext,
  text,
} from './document.ts';

/** A page of the events of a deposit, oldest first. */
export type History = Pick<
  DepositModel,
  'depositId' | 'uuid' | 'collection' | 'title' | 'client' | 'updatedAt'
> & {
  readonly events: readonly HistoryEntry[];
  /** Number of the first event of this page, and of the adjacent pages, if any. */
  readonly from: number;
  readonly previous: number | null;
  readonly next: number | null;
};

export type HistoryEntry = {
  /** UUID. */
  readonly id: string;
  readonly type: string;
  /** RFC 3339, UTC. */
  readonly occurredAt: string;
  /** Actor, as far as clients may know it. */
  readonly by: string;
  readonly description: Description;
};

/** Describes the history as an Atom feed, in pages (RFC 5005, section 3). */
export function historyFeed(
  history: History,
  { iris, generator }: Pick<RenderContext, 'iris' | 'generator'>,
): Document {
  return {
    element: 'feed',
    facts: [
      text('id', `${urnOf(history)}#history`),
      text('title', `History of ${titleOf(history)}`),
      text('updated', history.updatedAt),
      authorFact(history.client),
      generatorFact(generator),
      linksFact(linksOf(history, iris), FEED_TYPE),
      { name: 'entries', parts: history.events.map(entryOf) },
    ],
  };
}

function linksOf({ collection, depositId, from, previous, next }: History, iris: Iris) {
  const link = (rel: string, at: number) => ({ rel, href: iris.history(collection, depositId, at) });
  return [
    link('self', from),
    link('first', 0),
    ...(previous === null ? [] : [link('previous', previous)]),
    ...(next === null ? [] : [link('next', next)]),
  ];
}

function entryOf(event: HistoryEntry): Part {
  const { sentence } = event.description;
  const details = visibleDetails(event);
  // Atom requires a content of an entry (RFC 4287, section 4.1.2): the details, or else the title.
  const content = details.map(({ label, value }) => `${label}: ${value}`).join('\n') || sentence;
  return {
    element: 'entry',
    facts: [
      text('id', `urn:uuid:${event.id}`),
      text('title', sentence),
      text('updated', event.occurredAt),
      authorFact(event.by),
      { name: 'category', value: event.type, elements: [element('category', '', { term: event.type })] },
      onlyXml(element('content', content, { type: 'text' })),
      ...onlyJson({ details }),
    ],
  };
}

function visibleDetails({ description }: HistoryEntry): readonly { label: string; value: string }[] {
  return description.details
    .filter(({ internal }) => !internal)
    .map(({ label, value }) => ({ label, value }));
}
