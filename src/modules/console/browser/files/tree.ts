import { latin1Bytes } from '../../proof/digests.ts';
import { type Manifest, type ManifestEntry, parentOf } from '../../proof/manifest.ts';

/** A directory or file of a loaded deposit. */
export type TreeNode = ManifestEntry & {
  readonly name: string;
  readonly children: readonly TreeNode[];
};

/** Returns the root of the tree, with everything in it, in the order of the manifest. */
export function treeOf({ directory, entries }: Manifest): TreeNode {
  const byParent = Map.groupBy(entries, ({ path }) => parentOf(path));
  const nodeOf = (entry: ManifestEntry): TreeNode => ({
    ...entry,
    name: entry.path.slice(entry.path.lastIndexOf('/') + 1),
    children: entry.mode === '40000' ? (byParent.get(entry.path) ?? []).map(nodeOf) : [],
  });
  return nodeOf({ path: '', mode: '40000', id: directory });
}

/** Returns the node at a path; `undefined` if the tree does not have it. */
export function nodeAt(root: TreeNode, path: string): TreeNode | undefined {
  if (path === '') return root;
  return path
    .split('/')
    .reduce<TreeNode | undefined>((node, name) => node?.children.find((child) => child.name === name), root);
}

/** A path that differs between two versions. */
export type TreeDifference = {
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
};

/** Returns the files that differ. Directories with the same identifier are equal, and not entered. */
export function treeDifferences(before: TreeNode | undefined, after: TreeNode | undefined): TreeDifference[] {
  if (before?.id === after?.id && before?.mode === after?.mode) return [];
  const [old, present] = [childrenOf(before), childrenOf(after)];
  const names = [...new Set([...old.keys(), ...present.keys()])].sort();
  const inside = names.flatMap((name) => treeDifferences(old.get(name), present.get(name)));
  const [leaf, otherLeaf] = [leafOf(before), leafOf(after)];
  if (!leaf && !otherLeaf) return inside;
  const kind = !leaf ? 'added' : !otherLeaf ? 'removed' : 'changed';
  const { path } = (otherLeaf ?? leaf) as TreeNode;
  return [{ path, kind }, ...inside];
}

function childrenOf(node: TreeNode | undefined): ReadonlyMap<string, TreeNode> {
  return new Map(node?.children.map((child) => [child.name, child]));
}

/** Returns the node if it is a file, a link or an empty directory, which have nothing inside to differ. */
function leafOf(node: TreeNode | undefined): TreeNode | undefined {
  return node && node.children.length === 0 && node.path !== '' ? node : undefined;
}

/**
 * Decodes a name, which is a latin1 string of raw bytes, from UTF-8. In a name that is not UTF-8, each byte from 0x80 becomes
 * a lone surrogate from U+DC80, which no other name has: see `nameParts`.
 */
export function nameText(name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(latin1Bytes(name));
  } catch {
    return name.replaceAll(/[\x80-\xff]/g, (byte) => String.fromCharCode(0xdc00 + byte.charCodeAt(0)));
  }
}

/** Formats a path for a SWHID and for addresses: every byte outside `A-Za-z0-9_.~/-` is percent-encoded. */
export function escapePath(path: string): string {
  return path.replaceAll(
    /[^A-Za-z0-9_.~/-]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
