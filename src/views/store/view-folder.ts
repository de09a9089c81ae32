import path from 'node:path';
import { syncName } from '../../tools/files/make-directory.ts';
import { files } from '../../tools/files.ts';
import { removeViewFile } from './remove-view-file.ts';

/**
 * The entry of a view in `current.json`: the generation in use; `nothing` before the first rebuild; `no
 * sense` if it is unreadable.
 */
export type Pointed = number | 'nothing' | 'no sense';

/**
 * The folder of the views: one file per generation of each view, and `current.json`, which names the
 * generations in use. The code that builds a view creates the folder.
 */
export class ViewFolder {
  readonly path: string;

  constructor(folder: string) {
    this.path = folder;
  }

  fileOf(name: string, generation: number | string): string {
    return path.join(this.path, `${name}.${generation}.sqlite`);
  }

  /** Returns the generation in use; 1 when `current.json` names no valid one. */
  current(name: string): number {
    const generation = this.pointed(name);
    return typeof generation === 'number' ? generation : 1;
  }

  pointed(name: string): Pointed {
    const pointer = this.#pointer();
    const generation = pointer?.[name];
    if (Number.isSafeInteger(generation)) return generation as number;
    return pointer && generation === undefined ? 'nothing' : 'no sense';
  }

  /**
   * Makes the generations the ones in use. The change is durable when it returns: a crash leaves the old or
   * the new pointer.
   */
  use(generations: Readonly<Record<string, number>>): void {
    const file = path.join(this.path, 'current.json');
    const descriptor = files.openSync(`${file}.new`, 'w');
    files.writeSync(descriptor, `${JSON.stringify({ ...this.#pointer(), ...generations })}\n`);
    files.fsyncSync(descriptor);
    files.closeSync(descriptor);
    files.renameSync(`${file}.new`, file);
    syncName(file);
  }

  /** Removes all other generations of the view. */
  keepOnly(name: string, generations: readonly number[]): void {
    const kept = new Set(generations.map((generation) => path.basename(this.fileOf(name, generation))));
    for (const file of files.readdirSync(this.path)) {
      const isGeneration = file.startsWith(`${name}.`) && file.endsWith('.sqlite');
      if (isGeneration && !kept.has(file)) removeViewFile(path.join(this.path, file));
    }
  }

  /** Returns `undefined` when the file cannot be read; the first generation is then used, or built. */
  #pointer(): Record<string, unknown> | undefined {
    try {
      const pointer: unknown = JSON.parse(files.readFileSync(path.join(this.path, 'current.json'), 'utf8'));
      return typeof pointer === 'object' && pointer !== null
        ? (pointer as Record<string, unknown>)
        : undefined;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? {} : undefined;
    }
  }
}
