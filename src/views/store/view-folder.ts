import path from 'node:path';
import { syncName } from '../../tools/files/make-directory.ts';
import { files } from '../../tools/files.ts';

/** The generation that `current.json` names; `nothing` before the first rebuild; `no sense` if it is unreadable. */
type Pointed = number | 'nothing' | 'no sense';

/**
 * The folder of the views: one file per generation, and `current.json`, which names the one in use. Releases before
 * stored each view in a file of its own, and named its generation there: their files and names stay for a day, so that
 * such a release finds them again.
 */
export class ViewFolder {
  readonly path: string;

  constructor(folder: string) {
    this.path = folder;
  }

  fileOf(generation: number): string {
    return path.join(this.path, `views.${generation}.sqlite`);
  }

  /** The generation in use; 1 when `current.json` names no valid one. */
  get current(): number {
    const { pointed } = this;
    return typeof pointed === 'number' ? pointed : 1;
  }

  get pointed(): Pointed {
    const pointer = this.#pointer();
    const generation = pointer?.['views'];
    if (Number.isSafeInteger(generation)) return generation as number;
    return pointer && generation === undefined ? 'nothing' : 'no sense';
  }

  /** The numbers of the generations whose files exist, in order. */
  get generations(): readonly number[] {
    return this.#files()
      .map((file) => Number(/^views\.([1-9]\d*)\.sqlite$/.exec(file)?.[1] ?? 0))
      .filter((number) => number > 0)
      .sort((a, b) => a - b);
  }

  /** Makes the generation the one in use, durably: a crash leaves the old or the new pointer. */
  use(generation: number): void {
    this.#point({ ...this.#pointer(), views: generation });
  }

  /** Removes all other generations. */
  keepOnly(generations: readonly number[]): void {
    for (const generation of this.generations)
      if (!generations.includes(generation)) removeViewFile(this.fileOf(generation));
  }

  /** The files of releases that stored each view in a file of its own. */
  get filesPerView(): readonly string[] {
    return this.#files().filter((file) => /^(?!views\.)[a-z-]+\.\d+\.sqlite/.test(file));
  }

  /** Removes these files, and their names from `current.json`. */
  removeFilesPerView(): void {
    for (const file of this.filesPerView) files.rmSync(path.join(this.path, file), { force: true });
    if (files.existsSync(path.join(this.path, 'current.json'))) this.#point({ views: this.current });
  }

  #files(): readonly string[] {
    return files.existsSync(this.path) ? files.readdirSync(this.path) : [];
  }

  #point(pointer: Readonly<Record<string, unknown>>): void {
    const file = path.join(this.path, 'current.json');
    files.writeFileSync(`${file}.new`, `${JSON.stringify(pointer)}\n`, { flush: true });
    files.renameSync(`${file}.new`, file);
    syncName(file);
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

/** Whether the file was found to be corrupt while it was in use. */
export function isMarkedDamaged(file: string): boolean {
  return files.existsSync(`${file}.damaged`);
}

/**
 * Marks the file, so that the next start rebuilds the views. Ignores errors: the next read of the corrupt page tries
 * again.
 */
export function markDamaged(file: string): void {
  try {
    files.writeFileSync(`${file}.damaged`, '');
  } catch {
    // see above
  }
}

export function removeViewFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal', '.damaged'])
    files.rmSync(`${file}${suffix}`, { force: true });
}
