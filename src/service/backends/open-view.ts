import type { Config } from '../../config/config.ts';
import { codedError } from '../../tools/coded-error.ts';
import { exists } from '../../tools/files/access.ts';
import { isDamage } from '../../tools/sqlite/codes.ts';
import { ViewFile } from '../../views/store/view-file.ts';
import { ViewFolder } from '../../views/store/view-folder.ts';
import type { ViewQuery } from '../../views/view.ts';
import { ViewUnavailable } from '../../views/view-unavailable.ts';
import { assertExists } from './backend-not-found.ts';
import { viewDirectory } from './view-directory.ts';

/** A view as a process other than the service reads it. Reading a corrupt page throws {@link ViewUnavailable}. */
export type StoredView = ReturnType<typeof storedView>;

/**
 * Opens a view of this node read-only, for commands.
 * @throws when the node has no such view.
 * @throws {BackendNotFound} it has neither views nor a log.
 * @throws {ViewUnavailable} it is corrupt, here or when it is read.
 * @throws {NotPermitted}
 */
export function openView(config: Config, { name }: { readonly name: string }): StoredView {
  const [folder] = viewDirectory(config);
  const views = new ViewFolder(folder);
  const path = views.fileOf(views.current);
  if (!exists(path)) {
    if (config.eventLog.kind === 'sqlite') assertExists('event log', config.eventLog.file);
    throw noView(name, folder);
  }
  using opened = new DisposableStack();
  try {
    const file = opened.use(new ViewFile(path));
    if (file.versions().has(name)) {
      const view = storedView(file, name);
      opened.move();
      return view;
    }
  } catch (cause) {
    if (!isDamage(cause)) throw noView(name, folder, cause);
    const text = `The views in ${path} are corrupt: "deposit-service rebuild --all" repairs them.`;
    throw new ViewUnavailable(text, { cause });
  }
  throw noView(name, folder);
}

function storedView(file: ViewFile, name: string) {
  return {
    position: file.lastSeen?.position,
    /** Yields all keys with their values. */
    entries: () =>
      Iterator.from(file.table(name).rows()).map((row) => [row.key, JSON.parse(row.view) as object] as const),
    /** Returns the key with its value, or nothing. */
    entryOf: (key: string) => {
      const value = file.read(name, (table) => table.get(key));
      return value === undefined ? [] : [[key, value as object]]; // views are objects
    },
    /** Whether another view has the key; `undefined` if this node does not have that view. */
    isIn: (other: { readonly name: string }, key: string) =>
      file.versions().has(other.name)
        ? file.read(other.name, (table) => table.get(key) !== undefined)
        : undefined,
    find: (query: ViewQuery) => file.read(name, (table) => table.find(query)),
    numbers: (field: string, query: ViewQuery) => file.read(name, (table) => table.numbers(field, query)),
    count: (query: Omit<ViewQuery, 'limit'>) => file.read(name, (table) => table.count(query)),
    /** Whether {@link counts} are there: the service adds them once its views are filled. */
    isCounted: () => file.read(name, (table) => table.isCounted),
    counts: (equal?: Readonly<Record<string, string>>) => file.read(name, (table) => table.counts(equal)),
    /** Starts a read transaction: until it is disposed of, all reads see one state. */
    snapshot: () => file.snapshot(),
    [Symbol.dispose]: () => file[Symbol.dispose](),
  };
}

function noView(name: string, folder: string, cause?: unknown): Error {
  const text = `View ${name} not found in ${folder}: the service builds it when it starts, and so does "deposit-service rebuild".`;
  return codedError('NO_VIEW', text, { cause });
}
