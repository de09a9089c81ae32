import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Filter, FilterName } from '../../protocol/deposit-list.ts';
import { html } from '../../protocol/html.ts';
import { submittedText, valueOf } from '../parts/fields.ts';
import { Shown } from '../parts/shown.ts';
import { navigate, withQuery } from '../router.ts';

/** Filters that the bar offers, with an example each; the status has tabs of its own. */
const OFFERED: readonly (readonly [FilterName, string, string])[] = [
  ['client', 'client', 'alice'],
  ['collection', 'collection', 'software'],
  ['reason', 'reason', 'URL_OUTSIDE_DOMAIN'],
  ['actor', 'acted on by', 'rosa'],
  ['slug', 'slug', 'paint'],
  ['origin', 'origin', 'https://example.org/paint'],
  ['swhid', 'SWHID', 'swh:1:dir:…'],
  ['since', 'changed since', '2026-03-01T10:00Z'],
  ['until', 'changed until', '2026-03-02T10:00Z'],
];

type FilterBarProps = {
  readonly filter: Filter;
  /** Filters that the viewer cannot choose. */
  readonly without?: readonly FilterName[];
};

/** The search field, the filters in use, which a click removes, and a form for another one. */
export function FilterBar({ filter, without = [] }: FilterBarProps): VNode {
  const offered = OFFERED.filter(([name]) => !without.includes(name));
  const [name, setName] = useState<FilterName>(offered[0]?.[0] ?? 'since');
  const example = offered.find(([offer]) => offer === name)?.[2];
  const add = (event: SubmitEvent): void => {
    const value = submittedText(event, 'value');
    (event.currentTarget as HTMLFormElement).reset();
    if (value !== '') navigate(withQuery({ [name]: value, before: null }));
  };
  const search = (event: SubmitEvent): void =>
    navigate(withQuery({ q: submittedText(event, 'q'), before: null }));
  const chips = OFFERED.flatMap(([one, label]) => {
    const value = filter[one];
    return value === undefined ? [] : [{ one, label, value }];
  });
  return html`<div class="filters">
    <form onSubmit=${search} key=${filter.q}>
      <input
        id="filter-text"
        name="q"
        type="search"
        aria-label="Title, author, file name, origin"
        placeholder="Title, author, file name, origin"
        defaultValue=${filter.q ?? ''}
      />
      <button>Search</button>
    </form>
    <form onSubmit=${add}>
      <select
        aria-label="Filter"
        value=${name}
        onChange=${(event: Event) => setName(valueOf(event) as FilterName)}
      >
        ${offered.map(([one, label]) => html`<option value=${one}>${label}</option>`)}
      </select>
      <input name="value" aria-label="Value of the filter" placeholder=${example} />
      <button>Add filter</button>
    </form>
    ${
      chips.length > 0 &&
      html`<ul class="chips" aria-label="Filters in use">
        ${chips.map(
          ({ one, label, value }) => html`<li>
            <a href=${withQuery({ [one]: null, before: null })} title="Remove this filter"
              >${label}: <strong><${Shown} text=${value} /></strong> <span aria-hidden="true">✕</span></a
            >
          </li>`,
        )}
      </ul>`
    }
  </div>`;
}
