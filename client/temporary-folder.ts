import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A temporary folder of this process, created on first use. It is removed at the end, also after an interrupt. */
export class TemporaryFolder implements Disposable {
  #path: string | undefined;

  get path(): string {
    this.#path ??= this.#make();
    return this.#path;
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#remove);
    process.off('SIGINT', exitInterrupted);
    process.off('SIGTERM', exitTerminated);
    this.#remove();
  }

  #make(): string {
    process.once('exit', this.#remove);
    process.once('SIGINT', exitInterrupted);
    process.once('SIGTERM', exitTerminated);
    return mkdtempSync(path.join(tmpdir(), 'deposit-'));
  }

  readonly #remove = (): void => {
    if (this.#path !== undefined) rmSync(this.#path, { recursive: true, force: true });
  };
}

// The exit codes of shells for processes ended by a signal.
const exitInterrupted = (): never => process.exit(130);
const exitTerminated = (): never => process.exit(143);
