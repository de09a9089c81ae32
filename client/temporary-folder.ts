import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Fault, reasonOf } from './faults.ts';

/** A temporary folder of this process, created on first use. It is removed when the process exits. */
export class TemporaryFolder implements Disposable {
  #path: string | undefined;

  /** @throws {Fault} the folder of TMPDIR cannot be used */
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
    try {
      return mkdtempSync(path.join(tmpdir(), 'deposit-'));
    } catch (cause) {
      const text = `No temporary file can be made in ${tmpdir()}: ${reasonOf(cause)}. TMPDIR names another folder.`;
      throw new Fault(text, { cause });
    }
  }

  readonly #remove = (): void => {
    if (this.#path !== undefined) rmSync(this.#path, { recursive: true, force: true });
  };
}
