import type { VNode } from 'preact';
import { html } from '../../protocol/html.ts';
import { ofViewer } from '../api.ts';
import { Copyable } from '../parts/copy.ts';
import { DataTable, type TableColumn } from '../parts/data-table.ts';
import { Name } from '../parts/shown.ts';
import { type Place, withQuery } from '../router.ts';
import { numberText } from '../texts/count.ts';
import { Paged, pageOf } from './pages.ts';
import { bytesUrl, coreSwhid, qualifiedSwhid, type SwhidContext } from './swhid-context.ts';
import { escapePath, nameText, type TreeNode } from './tree.ts';

export type NodeProps = {
  readonly node: TreeNode;
  readonly depositId: number;
  readonly context: SwhidContext;
  /** Whether the viewer may read bytes of files. */
  readonly mayRead: boolean;
  readonly place: Place;
};

/** Words for the modes of entries. */
const KINDS: Readonly<Record<string, string>> = {
  '40000': 'directory',
  '100644': 'file',
  '100755': 'executable',
  '120000': 'link',
};

export function DirectoryTable(props: NodeProps): VNode {
  const { node, context, place } = props;
  const page = pageOf(place.query, 'from', node.children, ({ name }) => name);
  const rows = page.items.map((child) => ({
    ...child,
    name: html`<a href=${pathUrl(child.path)}><${Name} text=${nameText(child.name)} />${child.mode === '40000' ? '/' : ''}</a>`,
    swhid: html`<${Copyable} text=${qualifiedSwhid(child, context)} shown=${coreSwhid(child)} />`,
  }));
  return html`<section aria-label="Directory">
    <${NodeHead} ...${props} />
    <${Paged} page=${page} what="Entries"><${EntryTable} heading="Name" rows=${rows} /></${Paged}>
    ${node.children.length === 0 && html`<p class="quiet">The directory is empty.</p>`}
  </section>`;
}

type EntryRow = {
  readonly name: VNode;
  readonly mode: string;
  readonly length?: number;
  readonly swhid: VNode | undefined;
};

/** Files and directories, of a loaded deposit or of an archive. */
export function EntryTable({
  heading,
  rows,
}: {
  readonly heading: string;
  readonly rows: readonly EntryRow[];
}): VNode {
  const columns: readonly TableColumn<EntryRow>[] = [
    { title: heading, cell: ({ name }) => name },
    { title: 'Kind', cell: ({ mode }) => KINDS[mode] ?? mode },
    { title: 'Bytes', isNumber: true, cell: ({ length }) => length !== undefined && numberText(length) },
    { title: 'SWHID', cell: ({ swhid }) => swhid },
  ];
  return html`<${DataTable} columns=${columns} rows=${rows} />`;
}

/** Returns the address of this page with another file or directory. */
export function pathUrl(path: string): string {
  return withQuery({ path: escapePath(path), lines: null, from: null, change: null });
}

/** Path, identifiers and download of a directory or a file. */
export function NodeHead({ node, depositId, context, mayRead }: NodeProps): VNode {
  const names = node.path === '' ? [] : node.path.split('/');
  const isDirectory = node.mode === '40000';
  return html`
    <p class="breadcrumb">
      <a href=${pathUrl('')}>root</a>
      ${names.map((name, index) => {
        const path = names.slice(0, index + 1).join('/');
        return html` / <a href=${pathUrl(path)}><${Name} text=${nameText(name)} /></a>`;
      })}
    </p>
    <dl class="facts">
      <div><dt>SWHID</dt><dd><${Copyable} text=${coreSwhid(node)} /></dd></div>
      <div><dt>with context</dt><dd><${Copyable} text=${qualifiedSwhid(node, context)} /></dd></div>
      ${node.length !== undefined && html`<div><dt>bytes</dt><dd>${numberText(node.length)}</dd></div>`}
      ${node.sha256 !== undefined && html`<div><dt>SHA-256</dt><dd><${Copyable} text=${node.sha256} /></dd></div>`}
    </dl>
    ${
      mayRead &&
      html`<p><a class="button" href=${ofViewer(bytesUrl(depositId, node))} download>
        Download ${isDirectory ? 'as tar' : 'the file'}
      </a></p>`
    }
  `;
}
