import { createHash } from 'node:crypto';

/** A file or link of a tree, or an empty directory where it has no mode; paths and link targets are raw bytes as latin1. */
export type TreeMember = { readonly path: string; readonly mode?: string; readonly data?: Uint8Array };

type Tree = Map<string, Tree | { readonly mode: string; readonly id: Buffer }>;

/**
 * Returns the id that git gives to a tree, empty directories included, computed independently of the code of the
 * service. A later member of a path replaces an earlier one.
 */
export function gitTreeOf(members: Iterable<TreeMember>): string {
  const root: Tree = new Map();
  for (const { path, mode, data } of members) {
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    const last = mode === undefined ? undefined : names.pop();
    let tree = root;
    for (const name of names) {
      const next = tree.get(name);
      const below: Tree = next instanceof Map ? next : new Map();
      tree.set(name, below);
      tree = below;
    }
    if (mode !== undefined && last !== undefined)
      tree.set(last, { mode, id: objectId('blob', data ?? new Uint8Array(0)) });
  }
  return idOf(root).toString('hex');
}

function idOf(tree: Tree): Buffer {
  const entries = [...tree].map(([name, entry]) => {
    const [mode, id, order] =
      entry instanceof Map ? ['40000', idOf(entry), `${name}/`] : [entry.mode, entry.id, name];
    return { order: Buffer.from(order, 'latin1'), row: [Buffer.from(`${mode} ${name}\0`, 'latin1'), id] };
  });
  entries.sort((a, b) => Buffer.compare(a.order, b.order));
  return objectId('tree', Buffer.concat(entries.flatMap(({ row }) => row)));
}

function objectId(type: string, bytes: Uint8Array): Buffer {
  return createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest();
}
