import type { Description } from '../../../domain/description.ts';
import { FEED_TYPE } from '../../headers/negotiate.ts';
import type { Iris } from '../../iris.ts';
import { ATOM } from '../../namespaces.ts';
import { type BodyElement, element, xmlBody } from '../../xml/xml-body.ts';
import { type DepositModel, titleOf, urnOf } from '../deposit-model.ts';
import { generatorElement } from '../generator.ts';
import type { RenderContext } from '../render-context.ts';

/** A page of the events of a deposit, oldest first. */
export type History = Pick<
  DepositModel,
  'depositId' | 'uuid' | 'collection' | 'title' | 'author' | 'updatedAt'
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

/** Renders the history as an Atom feed, in pages (RFC 5005, section 3). */
export function historyFeed(history: History, { iris, depositNamespace, generator }: RenderContext): string {
  const feed = [
    element('id', `${urnOf(history)}#history`),
    element('title', feedTitle(history)),
    element('updated', history.updatedAt),
    element('author', [element('name', history.author)]),
    generatorElement(generator),
    ...linksOf(history, iris).map((link) => element('link', '', { ...link, type: FEED_TYPE })),
    ...history.events.map(entryOf),
  ];
  return xmlBody(element('feed', feed), { defaultNamespace: ATOM, depositNamespace });
}

/** Renders the same facts as JSON. */
export function historyJson(
  history: History,
  { iris, generator }: Pick<RenderContext, 'iris' | 'generator'>,
): string {
  return JSON.stringify({
    id: `${urnOf(history)}#history`,
    title: feedTitle(history),
    updated: history.updatedAt,
    author: { name: history.author },
    generator,
    links: linksOf(history, iris),
    entries: history.events.map((event) => ({
      id: `urn:uuid:${event.id}`,
      title: event.description.sentence,
      updated: event.occurredAt,
      author: { name: event.by },
      category: event.type,
      details: visibleDetails(event),
    })),
  });
}

function feedTitle(history: History): string {
  return `History of ${titleOf(history)}`;
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

function entryOf(event: HistoryEntry): BodyElement {
  return element('entry', [
    element('id', `urn:uuid:${event.id}`),
    element('title', event.description.sentence),
    element('updated', event.occurredAt),
    element('author', [element('name', event.by)]),
    element('category', '', { term: event.type }),
    element('content', contentOf(event), { type: 'text' }),
  ]);
}

/** Returns the content that Atom requires of an entry (RFC 4287, section 4.1.2): the details, or else the title. */
function contentOf(event: HistoryEntry): string {
  const lines = visibleDetails(event).map(({ label, value }) => `${label}: ${value}`);
  return lines.length > 0 ? lines.join('\n') : event.description.sentence;
}

/** Returns the details without internal ones. */
function visibleDetails({ description }: HistoryEntry): readonly { label: string; value: string }[] {
  return description.details
    .filter(({ internal }) => !internal)
    .map(({ label, value }) => ({ label, value }));
}
