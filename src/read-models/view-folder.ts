import path from 'node:path';
import { files } from '../tools/files.ts';
import { removeViewFile } from './remove-view-file.ts';

/** What `current.json` says of a view: the generation in use; `nothing`, as before the first rebuild; no sense. */
export type Pointed = number | 'nothing' | 'no sense';

/**
 * The folder of the views: a file a generation of each view, and `current.json`, which says which are in use. Whoever
 * builds a view makes the folder.
 */
export class ViewFolder {
  readonly path: string;

  constructor(folder: string) {
    this.path = folder;
  }

  fileOf(name: string, generation: number | string): string {
    return path.join(this.path, `${name}.${generation}.sqlite`);
  }

  /** The generation in use; the first, when nothing says otherwise. */
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

  /** Durable before it returns: a crash leaves the old pointer or the new one. */
  use(generations: Readonly<Record<string, number>>): void {
    const file = path.join(this.path, 'current.json');
    const descriptor = files.openSync(`${file}.new`, 'w');
    files.writeSync(descriptor, `${JSON.stringify({ ...this.#pointer(), ...generations })}\n`);
    files.fsyncSync(descriptor);
    files.closeSync(descriptor);
    files.renameSync(`${file}.new`, file);
  }

  /** Removes all generations of the view but these. */
  keepOnly(name: string, generations: readonly number[]): void {
    const kept = new Set(generations.map((generation) => path.basename(this.fileOf(name, generation))));
    for (const file of files.readdirSync(this.path)) {
      const isGeneration = file.startsWith(`${name}.`) && file.endsWith('.sqlite');
      if (isGeneration && !kept.has(file)) removeViewFile(path.join(this.path, file));
    }
  }

  /** `undefined` when it cannot be read, which counts as nothing: the first generation is used, or built. */
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
