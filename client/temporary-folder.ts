import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A temporary folder of this process, created on first use. It is removed when the process exits. */
export class TemporaryFolder implements Disposable {
  #path: string | undefined;

  get path(): string {
    this.#path ??= this.#make();
    return this.#path;
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#remove);
    this.#remove();
  }

  #make(): string {
    process.once('exit', this.#remove);
    return mkdtempSync(path.join(tmpdir(), 'deposit-'));
  }

  readonly #remove = (): void => {
    if (this.#path !== undefined) rmSync(this.#path, { recursive: true, force: true });
  };
}
