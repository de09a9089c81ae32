import type { VNode } from 'preact';
import { html } from '../../protocol/html.ts';
import { Shown } from '../parts/shown.ts';
import { withQuery } from '../router.ts';

/**
 * Maximum number of entries or lines on a page, of characters of a line, and of all lines of a page. Browsers need
 * seconds to lay out more, and a file of 1 MiB may have a million lines, or one of a million characters.
 */
const [MAX_ITEMS, MAX_LINE_CHARACTERS, MAX_CHARACTERS] = [1000, 2000, 50_000];

/** A page of a list: the numbers of its first and last item, from 1, and those with which the pages around it begin. */
export type Page = {
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly earlier: number | undefined;
  readonly later: number | undefined;
};

/** Returns the page of a list that has the item. Pages have as many items as fit, by the lengths of their texts. */
export function pageWith(item: number, items: readonly unknown[]): Page {
  const starts = [1];
  let [onPage, characters] = [0, 0];
  for (const [index, text] of items.entries()) {
    const length = typeof text === 'string' ? Math.min(text.length, MAX_LINE_CHARACTERS) : 0;
    if (onPage === MAX_ITEMS || characters + length > MAX_CHARACTERS) {
      starts.push(index + 1);
      [onPage, characters] = [0, 0];
    }
    onPage += 1;
    characters += length;
  }
  const at = Math.max(
    0,
    starts.findLastIndex((start) => start <= item),
  );
  const [earlier, first = 1, later] = [starts[at - 1], starts[at], starts[at + 1]];
  return { first, last: later === undefined ? items.length : later - 1, count: items.length, earlier, later };
}

/** Says which part of a list is shown, if it has several, and leads to those around it. */
export function Pager({ page, what }: { readonly page: Page; readonly what: string }): VNode {
  const { first, last, count, earlier, later } = page;
  if (earlier === undefined && later === undefined) return html``;
  const numbers = [first, last, count].map((number) => number.toLocaleString('en'));
  const link = (from: number | undefined, text: string) =>
    from !== undefined && html`<a class="button" href=${withQuery({ from: String(from) })}>${text}</a>`;
  return html`<p class="actions">
    <span role="status">${what} ${numbers[0]}–${numbers[1]} of ${numbers[2]}</span>
    ${link(earlier, 'Earlier')} ${link(later, 'Later')}
  </p>`;
}

/** Shows the beginning of a line, and the number of characters that follow. */
export function LineText({ text }: { readonly text: string }): VNode {
  const more = text.length - MAX_LINE_CHARACTERS;
  if (more <= 0) return html`<${Shown} text=${text} />`;
  return html`<${Shown} text=${text.slice(0, MAX_LINE_CHARACTERS)} />
    <span class="quiet"> … ${more.toLocaleString('en')} more characters</span>`;
}
