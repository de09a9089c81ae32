import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Fault, reasonOf } from './faults.ts';
import { ignoreErrors, removeOlder } from './state-files.ts';

/** No other program names its folders so, since those of killed processes are removed by their names. */
const PREFIX = 'sword-deposit-tmp-';
const MAX_AGE_MS = 7 * 24 * 3600_000;

/**
 * A temporary folder of this process, created on first use. It is removed when the process exits, or a week after the
 * process was killed.
 */
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
      ignoreErrors(() => removeOlder(tmpdir(), MAX_AGE_MS, isOwnFolder));
      return mkdtempSync(path.join(tmpdir(), PREFIX));
    } catch (cause) {
      const text = `No temporary file can be made in ${tmpdir()}: ${reasonOf(cause)}. TMPDIR names another folder.`;
      throw new Fault(text, { cause });
    }
  }

  readonly #remove = (): void => {
    if (this.#path !== undefined) rmSync(this.#path, { recursive: true, force: true });
  };
}

/** Whether a folder was made as above by this user: others can exchange the content of theirs for links meanwhile. */
function isOwnFolder(file: string): boolean {
  if (!path.basename(file).startsWith(PREFIX)) return false;
  const stats = ignoreErrors(() => lstatSync(file));
  return stats?.isDirectory() === true && stats.uid === (process.getuid?.() ?? stats.uid);
}
