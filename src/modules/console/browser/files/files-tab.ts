import type { VNode } from 'preact';
import { unescapePath } from '../../proof/manifest.ts';
import type { Boot } from '../../protocol/boot.ts';
import { html } from '../../protocol/html.ts';
import type { DepositSummary } from '../deposit/deposit-summary.ts';
import { useLoaded } from '../loaded.ts';
import { Pending, Problem } from '../parts/pending.ts';
import type { Place } from '../router.ts';
import { DirectoryTable } from './directory-table.ts';
import { FileView } from './file-view.ts';
import { Listings } from './listings.ts';
import { loadTree } from './load-text.ts';
import { swhidContext } from './swhid-context.ts';
import { nodeAt } from './tree.ts';
import { Versions } from './versions.ts';

type Props = { readonly summary: DepositSummary; readonly boot: Boot; readonly place: Place };

/** The tree of a loaded deposit: a directory or a file, by the path in the address. */
export function FilesTab({ summary, boot, place }: Props): VNode {
  const { row, depositId } = summary;
  const isLoaded = row !== null && row.directory !== null;
  const loaded = useLoaded(
    async (reading) => (isLoaded ? await loadTree(depositId, reading) : undefined),
    [depositId, isLoaded],
  );
  if (!row) return html`<p class="quiet">The deposit was deleted.</p>`;
  if (!isLoaded) return html`<${Listings} row=${row} place=${place} />`;
  const { value: root } = loaded;
  if (!root) return html`<${Pending} of=${loaded} />`;
  const path = unescapePath(place.query.get('path') ?? '');
  const node = nodeAt(root, path);
  const context = swhidContext(row);
  const mayRead = boot.viewer.permissions.includes('contents:read');
  const shared = { depositId, context, mayRead, place };
  return html`
    ${!node && html`<${Problem} text="The deposit has nothing at this path." />`}
    <div>${node?.mode === '40000' && html`<${DirectoryTable} key=${path} node=${node} ...${shared} />`}
    ${node && node.mode !== '40000' && html`<${FileView} key=${node.path} node=${node} ...${shared} />`}</div>
    <${Versions} depositId=${depositId} root=${root} place=${place} mayRead=${mayRead} />
  `;
}
