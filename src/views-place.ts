import path from 'node:path';
import type { Config, EventLogConfig } from './config.ts';
import { isThere } from './permission.ts';
import { LookedAtView } from './read-models/looked-at-view.ts';
import { ViewFolder } from './read-models/view-folder.ts';
import { ViewUnavailable } from './read-models/view-unavailable.ts';

/** The folder of the views, and the log whose positions they keep. */
export function viewsPlace({ dataDir, eventLog }: Config): [folder: string, origin: string] {
  return [path.join(dataDir, 'views'), originOf(eventLog)];
}

/**
 * A view of this node as it is now, for commands that only look.
 * @throws when the node keeps none.
 * @throws {ViewUnavailable} it is damaged, here or as it is read.
 * @throws {NotPermitted}
 */
export function openView(config: Config, { name }: { readonly name: string }): LookedAtView {
  const [folder] = viewsPlace(config);
  const views = new ViewFolder(folder);
  const file = views.fileOf(name, views.current(name));
  if (!isThere(file)) throw noView(name, folder);
  try {
    return LookedAtView.open(file, { name });
  } catch (cause) {
    if (cause instanceof ViewUnavailable) throw cause;
    throw noView(name, folder, cause);
  }
}

function noView(name: string, folder: string, cause?: unknown): Error {
  const text = `There is no view ${name} in ${folder}: the service makes it when it starts, or "npm run rebuild".`;
  return Object.assign(new Error(text, { cause }), { code: 'NO_VIEW' });
}

/** Which log views are of: the positions of one mean nothing in another. */
export function originOf(eventLog: EventLogConfig): string {
  if (eventLog.kind === 'sqlite') return 'sqlite';
  const [, hosts] = /^[^/]*\/\/(?:[^@/]*@)?([^/?]*)/.exec(eventLog.connectionString) ?? [];
  return `eventstoredb ${hosts}`;
}
