import path from 'node:path';
import { files } from './tools/files.ts';

/** Folders below one top folder that are still there after a power cut. */
export class DurableFolders {
  readonly #top: string;
  readonly #durable = new Set<string>();

  constructor(top: string) {
    this.#top = top;
  }

  /** Makes the folder where it is missing, and its name and those of its parents durable. */
  async make(folder: string): Promise<void> {
    const made = await files.mkdir(folder, { recursive: true, mode: 0o700 });
    const madeTop = made !== undefined && made.length <= this.#top.length;
    const last = madeTop ? path.dirname(made) : this.#top;
    const synced: string[] = [];
    for (let child = folder; child !== last; child = path.dirname(child)) {
      const isNew = made !== undefined && child.length >= made.length;
      if (!isNew && this.#durable.has(child)) break; // and so are its parents
      await syncFolder(path.dirname(child));
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
