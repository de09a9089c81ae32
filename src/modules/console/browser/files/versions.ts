import type { VNode } from 'preact';
import { unescapePath } from '../../proof/manifest.ts';
import { html } from '../../protocol/html.ts';
import { useJson, useLoaded } from '../loaded.ts';
import { Choice } from '../parts/fields.ts';
import { Pending } from '../parts/pending.ts';
import { Name } from '../parts/shown.ts';
import { preferences } from '../preferences.ts';
import { navigate, type Place, withQuery } from '../router.ts';
import { useStore } from '../store.ts';
import { countText } from '../texts/count.ts';
import { timeText } from '../texts/times.ts';
import { ChangedLines } from './changed-lines.ts';
import { pathUrl } from './directory-table.ts';
import { loadTree } from './load-text.ts';
import { Paged, pageOf } from './pages.ts';
import { nameText, nodeAt, type TreeDifference, type TreeNode, treeDifferences } from './tree.ts';

type Version = { readonly depositId: number; readonly createdAt: string; readonly directory: string };

type Props = {
  readonly depositId: number;
  readonly root: TreeNode;
  readonly place: Place;
  /** Whether the viewer may read bytes of files. */
  readonly mayRead: boolean;
};

/** Compares the tree with that of another deposit of the same origin. */
export function Versions(props: Props): VNode {
  const { depositId, root, place } = props;
  const { zone } = useStore(preferences);
  const loaded = useJson<{ readonly versions: readonly Version[]; readonly isComplete: boolean }>(
    `/console/api/deposits/${depositId}/versions`,
  );
  const { value } = loaded;
  if (!value) return html`<${Pending} of=${loaded} />`;
  const others = value.versions.filter((version) => version.depositId !== depositId);
  const other = place.query.get('with') ?? '';
  const choose = (chosen: string): void =>
    navigate(withQuery({ with: chosen, difference: null, change: null }));
  if (others.length === 0) return html`<p class="quiet">There is no other version of this origin.</p>`;
  const options = others.map((version) => [
    String(version.depositId),
    `deposit ${version.depositId}, ${timeText(new Date(version.createdAt), zone)}${version.directory === root.id ? ', the same tree' : ''}`,
  ]);
  return html`<section aria-label="Versions">
    <h2>Versions of the origin</h2>
    <${Choice} label="Compare with" value=${other} options=${[['', 'nothing'], ...options]} onChoose=${choose} />
    ${!value.isComplete && html`<p class="quiet">These are the newest deposits of the origin: it has more.</p>`}
    ${/^\d+$/.test(other) && html`<${Differences} other=${other} ...${props} />`}
  </section>`;
}

function Differences({ other, depositId, root, place, mayRead }: Props & { readonly other: string }): VNode {
  const loaded = useLoaded((reading) => loadTree(other, reading), [other]);
  const { value: before } = loaded;
  if (!before) return html`<${Pending} of=${loaded} text="Comparing …" />`;
  const found = treeDifferences(before, root);
  const page = pageOf(place.query, 'difference', found, (one) => one.path);
  const [from, to] = [`deposit ${other}`, 'this one'];
  const path = unescapePath(place.query.get('path') ?? '');
  const [old, present] = [nodeAt(before, path), nodeAt(root, path)].filter((node) => node?.mode !== '40000');
  const isChanged = old && present && old.id !== present.id;
  return html`
    ${isChanged && mayRead && html`<${ChangedLines} before=${{ depositId: other, node: old }} after=${{ depositId, node: present }} query=${place.query} />`}
    <p role="status">${found.length === 0 ? `The trees of ${from} and ${to} are equal.` : `From ${from} to ${to}, ${countText(found.length, 'path')} ${found.length === 1 ? 'differs' : 'differ'}.`}</p>
    <${Paged} page=${page} what="Differences">
      <ul class="tree-differences">${page.items.map((one) => html`<${DifferenceItem} difference=${one} />`)}</ul>
    </${Paged}>
  `;
}

function DifferenceItem({ difference: { path, kind } }: { readonly difference: TreeDifference }): VNode {
  const name = html`<${Name} text=${nameText(path)} />`;
  if (kind === 'removed') return html`<li>removed: <del>${name}</del></li>`;
  const link = html`<a href=${pathUrl(path)}>${name}</a>`;
  return html`<li>${kind}: ${kind === 'added' ? html`<ins>${link}</ins>` : link}</li>`;
}
