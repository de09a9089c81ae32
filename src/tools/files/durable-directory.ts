import path from 'node:path';
import { files } from '../files.ts';
import { syncName } from './make-directory.ts';

/** Creates folders below one top folder whose names survive a power cut. */
export class DurableFolders {
  readonly #top: string;
  readonly #durable = new Set<string>();

  constructor(top: string) {
    this.#top = top;
  }

  /**
   * Creates the folder if it is missing, and makes its name and those of its parents durable. That includes the name of
   * the top folder: an earlier process may have created it and crashed before its sync.
   */
  async make(folder: string): Promise<void> {
    const made = await files.mkdir(folder, { recursive: true, mode: 0o700 });
    const madeTop = made !== undefined && made.length <= this.#top.length;
    const last = path.dirname(madeTop ? made : this.#top);
    const synced: string[] = [];
    for (let child = folder; child !== last; child = path.dirname(child)) {
      const isNew = made !== undefined && child.length >= made.length;
      if (!isNew && this.#durable.has(child)) break; // its parents are durable, too
      if (child === this.#top) syncName(child);
      else await syncFolder(path.dirname(child));
      synced.push(child);
    }
    for (const child of synced) this.#durable.add(child);
  }
}

/** Makes the names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await files.open(folder, 'r');
  await handle.sync();
}
