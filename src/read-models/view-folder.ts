import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { removeViewFile } from './view-file.ts';

/** The folder of the views: a file a generation of each view, and `current.json`, which says which are in use. */
export class ViewFolder {
  readonly path: string;

  constructor(folder: string) {
    this.path = folder;
    mkdirSync(folder, { recursive: true });
  }

  fileOf(name: string, generation: number | string): string {
    return path.join(this.path, `${name}.${generation}.sqlite`);
  }

  /** The generation in use; the first, when nothing says otherwise. */
  current(name: string): number {
    const generation = this.#pointer()[name];
    return Number.isSafeInteger(generation) ? (generation as number) : 1;
  }

  /** Durable before it returns: a crash leaves the old pointer or the new one. */
  use(generations: Readonly<Record<string, number>>): void {
    const file = path.join(this.path, 'current.json');
    const descriptor = openSync(`${file}.new`, 'w');
    writeSync(descriptor, `${JSON.stringify({ ...this.#pointer(), ...generations })}\n`);
    fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(`${file}.new`, file);
  }

  /** Removes all generations of the view but these. */
  keepOnly(name: string, generations: readonly number[]): void {
    const kept = new Set(generations.map((generation) => path.basename(this.fileOf(name, generation))));
    for (const file of readdirSync(this.path)) {
      const isGeneration = file.startsWith(`${name}.`) && file.endsWith('.sqlite');
      if (isGeneration && !kept.has(file)) removeViewFile(path.join(this.path, file));
    }
  }

  /** What cannot be read counts as nothing: the first generation is used, or built. */
  #pointer(): Record<string, unknown> {
    try {
      return JSON.parse(readFileSync(path.join(this.path, 'current.json'), 'utf8')) as Record<
        string,
        unknown
      >;
    } catch {
      return {};
    }
  }
}
