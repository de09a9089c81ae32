import path from 'node:path';
import { unlessMissing } from '../tools/files/access.ts';
import { DurableFolders } from '../tools/files/durable-directory.ts';
import { files } from '../tools/files.ts';
import { random } from '../tools/random.ts';
import { IncomingFile } from './incoming-file.ts';
import { orUnavailable } from './store-errors.ts';

/** The folder of bodies until they are verified; files left after a crash are swept. */
export class IncomingFolder {
  readonly #folder: string;
  readonly #syncBytes: number;
  readonly #inUse = new Set<string>();

  /** @param syncBytes written bytes of a file that trigger a sync; none by default, for files that need not be durable */
  static async open(top: string, syncBytes = Infinity): Promise<IncomingFolder> {
    const folder = path.join(top, 'incoming');
    await orUnavailable('write', new DurableFolders(top).make(folder));
    return new IncomingFolder(folder, syncBytes);
  }

  private constructor(folder: string, syncBytes: number) {
    this.#folder = folder;
    this.#syncBytes = syncBytes;
  }

  pathOf(name: string): string {
    return path.join(this.#folder, name);
  }

  async create(): Promise<IncomingFile> {
    const file = this.pathOf(random.uuid());
    this.#inUse.add(file);
    try {
      return await IncomingFile.create(file, this.#syncBytes, () => this.#inUse.delete(file));
    } catch (error) {
      this.#inUse.delete(file);
      throw error;
    }
  }

  /**
   * Removes old files, except those that this process is writing; of other processes only the age of their files is
   * known.
   */
  async sweep(olderThan: Date, { dryRun = false }: { readonly dryRun?: boolean }): Promise<number> {
    let swept = 0;
    for await (const { name } of await orUnavailable('read', files.opendir(this.#folder))) {
      const file = path.join(this.#folder, name);
      if (this.#inUse.has(file) || !(await orUnavailable('read', isOlderFile(file, olderThan)))) continue;
      if (!dryRun) await orUnavailable('write', files.rm(file, { force: true }));
      swept += 1;
    }
    return swept;
  }

  /** Resolves when a file can be written here. */
  async probe(): Promise<void> {
    await using file = await this.create();
    await file.write(Buffer.alloc(4096));
    await file.written();
  }
}

async function isOlderFile(file: string, than: Date): Promise<boolean> {
  const found = await files.stat(file).catch(unlessMissing(undefined));
  return found?.isFile() === true && found.mtimeMs < than.getTime();
}
