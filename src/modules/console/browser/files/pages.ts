import type { ComponentChildren, VNode } from 'preact';
import { html } from '../../protocol/html.ts';
import { Shown } from '../parts/shown.ts';
import { withQuery } from '../router.ts';
import { countText, numberText } from '../texts/count.ts';

/**
 * Maximum number of entries or lines on a page, of characters of a line, and of all lines of a page. Browsers need
 * seconds to lay out more, and a file of 1 MiB may have a million lines, or one of a million characters.
 */
const [MAX_ITEMS, MAX_LINE_CHARACTERS, MAX_CHARACTERS] = [1000, 2000, 50_000];

/** Parameters of an address that choose the page of a list, by the number of an item: a page may show several lists. */
type PageParameter = 'from' | 'difference' | 'change';

/** A page of a list, and the numbers, from 1, of its items and of those with which the pages around it begin. */
type Page<Item> = {
  readonly parameter: PageParameter;
  readonly items: readonly Item[];
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly earlier: number | undefined;
  readonly later: number | undefined;
};

/**
 * Returns the page of a list that an address names; a number that is gone gives the last page. Pages have as many items as
 * fit, by the lengths of their texts.
 * @param item number of an item of the page that is shown unless the address names one
 */
export function pageOf<Item>(
  query: URLSearchParams,
  parameter: PageParameter,
  items: readonly Item[],
  textOf: (item: Item) => string,
  item = 1,
): Page<Item> {
  const wanted = Number(query.get(parameter) ?? item);
  const starts = [1];
  let [onPage, characters] = [0, 0];
  for (const [index, one] of items.entries()) {
    const length = Math.min(textOf(one).length, MAX_LINE_CHARACTERS);
    if (onPage === MAX_ITEMS || characters + length > MAX_CHARACTERS) {
      starts.push(index + 1);
      [onPage, characters] = [0, 0];
    }
    onPage += 1;
    characters += length;
  }
  const at = Math.max(
    0,
    starts.findLastIndex((start) => start <= wanted),
  );
  const [earlier, first = 1, later] = [starts[at - 1], starts[at], starts[at + 1]];
  const last = later === undefined ? items.length : later - 1;
  return {
    parameter,
    items: items.slice(first - 1, last),
    first,
    last,
    count: items.length,
    earlier,
    later,
  };
}

type PagedProps = {
  readonly page: Omit<Page<unknown>, 'items'>;
  /** Name of the items, in the plural. */
  readonly what: string;
  readonly children?: ComponentChildren;
};

/** Shows a page of a list: says before it which part that is, if there are several, and leads to those around it. */
export function Paged({
  page: { parameter, first, last, count, earlier, later },
  what,
  children,
}: PagedProps): VNode {
  if (earlier === undefined && later === undefined) return html`${children}`;
  const part = `${what} ${[first, last].map(numberText).join('–')} of ${numberText(count)}`;
  const link = (from: number | undefined, text: string) =>
    from !== undefined &&
    html`<a class="button" href=${`${withQuery({ [parameter]: String(from) })}#${parameter}`}>${text}</a>`;
  const links = html`${link(earlier, 'Earlier')} ${link(later, 'Later')}`;
  return html`<div class="paged" id=${parameter} tabindex="-1" role="group" aria-label=${part}>
    <p class="actions"><span>${part}</span> ${links}</p>
    ${children}
    <p class="actions">${links}</p>
  </div>`;
}

/** Shows the beginning of a line, and the number of characters that follow. */
export function LineText({ text }: { readonly text: string }): VNode {
  if (text.length <= MAX_LINE_CHARACTERS) return html`<${Shown} text=${text} />`;
  const shown = text.slice(0, MAX_LINE_CHARACTERS).replace(/[\ud800-\udbff]$/, ''); // no half of a character
  return html`<${Shown} text=${shown} />
    <span class="quiet"> … ${countText(text.length - shown.length, 'more character')}</span>`;
}
