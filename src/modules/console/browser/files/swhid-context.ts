import type { SummaryRow } from '../deposit/deposit-summary.ts';
import { escapePath, type TreeNode } from './tree.ts';

/** The identifiers of a loaded deposit by which the objects inside it are qualified. */
export type SwhidContext = Readonly<Record<'origin' | 'snapshot' | 'revision', string>>;

export function swhidContext({ origin, snapshot, revisionId }: SummaryRow): SwhidContext {
  return { origin: origin ?? '', snapshot: snapshot ?? '', revision: revisionId ?? '' };
}

/** Returns the SWHID of a file or directory without qualifiers. */
export function coreSwhid({ mode, id }: Pick<TreeNode, 'mode' | 'id'>): string {
  return `swh:1:${mode === '40000' ? 'dir' : 'cnt'}:${id}`;
}

/** Returns the SWHID with its context, and with lines of a file such as `3-7`. */
export function qualifiedSwhid(node: TreeNode, context: SwhidContext, lines?: string): string {
  const { origin, snapshot, revision } = context;
  const qualifiers = [
    `origin=${origin.replaceAll('%', '%25').replaceAll(';', '%3B')}`,
    `visit=swh:1:snp:${snapshot}`,
    `anchor=swh:1:rev:${revision}`,
    `path=/${escapePath(node.path)}`,
    ...(lines === undefined ? [] : [`lines=${lines}`]),
  ];
  return [coreSwhid(node), ...qualifiers].join(';');
}

/** Returns the address of the bytes of a file, or of a directory as a tar. */
export function bytesUrl(depositId: number, node: TreeNode): string {
  const swhid = `${coreSwhid(node)};path=/${escapePath(node.path)}`;
  return `/console/api/deposits/${depositId}/bytes?swhid=${encodeURIComponent(swhid)}`;
}
