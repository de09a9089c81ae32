import path from 'node:path';
import type { SeenEvent } from '../../event-log/event-log.ts';
import { makeDirectory } from '../../tools/files/make-directory.ts';
import { files } from '../../tools/files.ts';
import { resultOfThread } from '../../tools/workers.ts';

export type CopyOrder = {
  readonly views: string;
  /** The folder for the copy. */
  readonly folder: string;
  /** The file to write. */
  readonly packed: string;
  readonly key: Uint8Array;
};

/** Says up to where a copy has the views, and in which versions. */
export type CopiedViews = {
  readonly lastSeen: SeenEvent | undefined;
  readonly versions: Readonly<Record<string, number>>;
};

/** Removes what a killed process has left of copies of the views. @param views the folder of the views */
export function removeCopies(views: string): void {
  files.rmSync(path.join(views, 'snapshot'), { recursive: true, force: true });
}

/** Makes a folder for copies of the views, which are in the folder `views`. Disposing of it removes it. */
export function makeCopyFolder(views: string): Disposable & { readonly path: string } {
  removeCopies(views);
  const folder = path.join(views, 'snapshot');
  makeDirectory(folder);
  return { path: folder, [Symbol.dispose]: () => removeCopies(views) };
}

/**
 * Copies and packs the file of the views in a worker thread, while the service writes it. The folder needs room for the
 * copy and the packed file. @throws the reason of the signal
 */
export function packedCopy(order: CopyOrder, signal: AbortSignal): Promise<CopiedViews> {
  const program = new URL('./copy-worker.ts', import.meta.url);
  return resultOfThread(program, { name: 'view-copy', workerData: order }, signal);
}
