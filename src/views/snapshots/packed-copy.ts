import { once } from 'node:events';
import path from 'node:path';
import { makeDirectory } from '../../tools/files/make-directory.ts';
import { files } from '../../tools/files.ts';
import { workers } from '../../tools/workers.ts';
import type { EventRef } from '../view.ts';

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
  readonly lastSeen: EventRef | undefined;
  readonly versions: Readonly<Record<string, number>>;
};

/** Removes what a killed process has left of copies of the views. @param views the folder of the views */
export function removeCopies(views: string): void {
  files.rmSync(folderIn(views), { recursive: true, force: true });
}

function folderIn(views: string): string {
  return path.join(views, 'snapshot');
}

/** A folder for copies of the views. Disposing of it removes it. */
export class CopyFolder implements Disposable {
  readonly path: string;
  readonly #views: string;

  /** @param views the folder of the views */
  constructor(views: string) {
    this.#views = views;
    this.path = folderIn(views);
    removeCopies(views);
    makeDirectory(this.path);
  }

  fileOf(name: string): string {
    return path.join(this.path, name);
  }

  [Symbol.dispose](): void {
    removeCopies(this.#views);
  }
}

/**
 * Copies and packs the file of the views in a worker thread, while the service writes it. The folder needs room for the
 * copy and the packed file. @throws the reason of the signal
 */
export async function packedCopy(order: CopyOrder, signal: AbortSignal): Promise<CopiedViews> {
  signal.throwIfAborted();
  const program = `./copy-worker${path.extname(import.meta.filename)}`;
  const worker = workers.start(new URL(program, import.meta.url), { name: 'view-copy', workerData: order });
  try {
    const [copied] = (await once(worker, 'message', { signal })) as [CopiedViews];
    return copied;
  } finally {
    await worker.terminate();
  }
}
