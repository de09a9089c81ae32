import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** For this process only: it goes with it, also when the person interrupts. */
export class TemporaryFolder implements Disposable {
  readonly path = mkdtempSync(path.join(tmpdir(), 'deposit-'));

  constructor() {
    process.once('exit', this.#remove);
    process.once('SIGINT', exitInterrupted);
    process.once('SIGTERM', exitTerminated);
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#remove);
    process.off('SIGINT', exitInterrupted);
    process.off('SIGTERM', exitTerminated);
    this.#remove();
  }

  readonly #remove = (): void => rmSync(this.path, { recursive: true, force: true });
}

// The codes that shells give to what a signal has ended.
const exitInterrupted = (): never => process.exit(130);
const exitTerminated = (): never => process.exit(143);
