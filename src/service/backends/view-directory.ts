import path from 'node:path';
import type { Config, EventLogConfig } from '../../config/config.ts';
import { exists } from '../../tools/files/access.ts';
import { ReadonlyView } from '../../views/store/readonly-view.ts';
import { ViewFolder } from '../../views/store/view-folder.ts';
import { ViewUnavailable } from '../../views/view-unavailable.ts';

/** Returns the folder of the views, and the identity of the log that their positions belong to. */
export function viewDirectory({ dataDir, eventLog }: Config): [folder: string, origin: string] {
  return [path.join(dataDir, 'views'), logIdentity(eventLog)];
}

/**
 * Opens a view of this node read-only, for commands.
 * @throws when the node has no such view.
 * @throws {ViewUnavailable} it is corrupt, here or when it is read.
 * @throws {NotPermitted}
 */
export function openView(config: Config, { name }: { readonly name: string }): ReadonlyView {
  const [folder] = viewDirectory(config);
  const views = new ViewFolder(folder);
  const file = views.fileOf(name, views.current(name));
  if (!exists(file)) throw noView(name, folder);
  try {
    return ReadonlyView.open(file, { name });
  } catch (cause) {
    if (cause instanceof ViewUnavailable) throw cause;
    throw noView(name, folder, cause);
  }
}

function noView(name: string, folder: string, cause?: unknown): Error {
  const text = `There is no view ${name} in ${folder}: the service makes it when it starts, or "npm run rebuild".`;
  return Object.assign(new Error(text, { cause }), { code: 'NO_VIEW' });
}

/** Returns the identity of a log: positions of one log have no meaning in another. */
export function logIdentity(eventLog: EventLogConfig): string {
  if (eventLog.kind === 'sqlite') return 'sqlite';
  const [, hosts] = /^[^/]*\/\/(?:[^@/]*@)?([^/?]*)/.exec(eventLog.connectionString) ?? [];
  return `eventstoredb ${hosts}`;
}
