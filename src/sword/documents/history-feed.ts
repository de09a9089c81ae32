import type { Description } from '../../domain/description.ts';
import { FEED_TYPE } from '../headers/negotiate.ts';
import type { Iris } from '../iris.ts';
import { ATOM } from '../namespaces.ts';
import { generatorElement } from './generator.ts';
import type { Language } from './language.ts';
import { type ShownDeposit, titleOf, urnOf } from './shown-deposit.ts';
import { type BodyElement, element, xmlBody } from './xml-body.ts';

/** A page of what has happened to a deposit, oldest first. */
export type History = Pick<
  ShownDeposit,
  'depositId' | 'uuid' | 'collection' | 'title' | 'author' | 'updatedAt'
> & {
  readonly events: readonly ToldEvent[];
  /** Number of the first event of this page, and of those before and after it, where there are any. */
  readonly from: number;
  readonly previous: number | null;
  readonly next: number | null;
};

export type ToldEvent = {
  /** UUID. */
  readonly id: string;
  readonly type: string;
  /** RFC 3339, UTC. */
  readonly occurredAt: string;
  /** Who acted, as far as clients are told. */
  readonly by: string;
  readonly description: Description;
};

/** The history as an Atom feed, in pages (RFC 5005, section 3). */
export function historyFeed(history: History, { iris, depositNamespace, generator }: Language): string {
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

/** The same facts as JSON. */
export function historyJson(
  history: History,
  { iris, generator }: Pick<Language, 'iris' | 'generator'>,
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
      details: toldDetails(event),
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

function entryOf(event: ToldEvent): BodyElement {
  return element('entry', [
    element('id', `urn:uuid:${event.id}`),
    element('title', event.description.sentence),
    element('updated', event.occurredAt),
    element('author', [element('name', event.by)]),
    element('category', '', { term: event.type }),
    element('content', contentOf(event), { type: 'text' }),
  ]);
}

/** An entry owes its reader some content (RFC 4287, section 4.1.2): at the least its title once more. */
function contentOf(event: ToldEvent): string {
  const lines = toldDetails(event).map(({ label, value }) => `${label}: ${value}`);
  return lines.length > 0 ? lines.join('\n') : event.description.sentence;
}

/** What is of the inside of the service stays there. */
function toldDetails({ description }: ToldEvent): readonly { label: string; value: string }[] {
  return description.details
    .filter(({ internal }) => !internal)
    .map(({ label, value }) => ({ label, value }));
}
