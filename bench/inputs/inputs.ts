import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { type MadeArchive, makeArchives } from './archives.ts';
import { manyDeposits } from './many-deposits.ts';
import { type RealTree, realTree } from './real-tree.ts';

export type InputOptions = {
  /** Folder that is reused from run to run. */
  readonly cache: string;
  readonly offline: boolean;
  readonly tell: (progress: string) => void;
};

/** The inputs of measurements. Each is made when the first goal asks for it. */
export class Inputs {
  readonly #options: InputOptions;
  #tree: Promise<RealTree> | undefined;
  #archives: Promise<{ readonly zip: MadeArchive; readonly tarGz: MadeArchive }> | undefined;

  constructor(options: InputOptions) {
    this.#options = options;
    mkdirSync(options.cache, { recursive: true });
  }

  /** A folder of real source code. */
  tree(): Promise<RealTree> {
    const { cache, offline, tell } = this.#options;
    this.#tree ??= realTree(path.join(cache, offline ? 'tree-offline' : 'tree'), offline, tell);
    return this.#tree;
  }

  /** Resolves to the same source code as archives. */
  async archives(): Promise<{ readonly zip: MadeArchive; readonly tarGz: MadeArchive }> {
    const tree = await this.tree();
    this.#options.tell('packing the source code');
    this.#archives ??= makeArchives(tree.folder);
    return this.#archives;
  }

  /**
   * Resolves to a data folder with a log of this number of completed deposits, of seven events each. It has nothing
   * else unless it was used.
   */
  manyDeposits(count: number): Promise<string> {
    const { cache, tell } = this.#options;
    return manyDeposits(path.join(cache, `deposits-${count}`), { count }, tell);
  }

  /** Like {@link manyDeposits}, of many clients, and not all are done. */
  variedDeposits(count: number): Promise<string> {
    const { cache, tell } = this.#options;
    return manyDeposits(path.join(cache, `varied-deposits-${count}`), { count, varied: true }, tell);
  }
}
