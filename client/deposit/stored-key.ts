import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { random } from '../../src/tools/random.ts';
import type { Collection } from '../documents/service-document.ts';
import { readEnvironment } from '../environment.ts';
import { reasonOf } from '../faults.ts';
import { ignoreErrors, openStateFolder, removeFile } from '../state-files.ts';
import type { Step } from './plan.ts';

/** Maximum age of a stored key, in milliseconds. */
const MAX_AGE_MS = 30 * 24 * 3600_000;

export type StoredKeyOptions = {
  readonly collection: Collection;
  readonly user: string;
  readonly slug: string | undefined;
  /** Edit-IRI of an existing deposit. */
  readonly deposit: string | undefined;
  /** Called with why the key cannot be stored. */
  readonly note: (text: string) => void;
};

/**
 * Derives the idempotency keys of an upload from one that is stored on disk before the first request. So a command that
 * is run again after it was killed, or by another process at the same time, continues the same deposit. A command with
 * other content does not.
 */
export class StoredKey {
  readonly #file: string;
  readonly #options: StoredKeyOptions;
  #key = random.uuid();
  #isStored = false;

  /** Stores a key, or finds that of another process. */
  constructor(steps: readonly Step[], options: StoredKeyOptions) {
    const { collection, user, slug, deposit } = options;
    const name = digestOf([collection.iri, user, slug, deposit, ...steps.map(contentOf)]);
    this.#file = path.join(readEnvironment().folder, 'requests', name);
    this.#options = options;
    this.#store();
  }

  /** Returns the key of a step, equal in all processes. */
  of(step: Step, at: number): string {
    return digestOf([this.#key, at, contentOf(step)]);
  }

  /** Whether another process has the same key, now or earlier: requests may be recorded already. */
  get isShared(): boolean {
    return this.#isStored && ignoreErrors(() => readFileSync(this.#file, 'utf8')) !== `${this.#key}\n`;
  }

  forget(): void {
    removeFile(this.#file);
  }

  /** Replaces the key: no request with it counts any longer. */
  renew(): void {
    this.forget();
    this.#key = random.uuid();
    this.#store();
  }

  #store(): void {
    if (!this.#options.collection.recognisesRepeats) return; // another process could not continue
    try {
      openStateFolder(path.dirname(this.#file), MAX_AGE_MS);
      this.#key = keyIn(this.#file, this.#key);
      this.#isStored = true;
    } catch (error) {
      const text = `${this.#file} cannot be written: ${reasonOf(error)}.`;
      this.#options.note(
        `${text} If this command is interrupted, check with deposit list before you run it again.`,
      );
    }
  }
}

/** Writes the key to the file; if it exists, adds a line, and returns the key in it. */
function keyIn(file: string, key: string): string {
  const own = `${file}.${key}`;
  try {
    writeFileSync(own, `${key}\n`, { mode: 0o600, flag: 'wx' });
    linkSync(own, file); // atomic, also on a network
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return sharedKeyIn(file) ?? keyIn(file, key);
    if (syscall !== 'link') throw error;
    renameSync(own, file); // some file systems have no links
  } finally {
    removeFile(own);
  }
  return key;
}

/** Returns the key of another process, and adds a line, which shows it that the key is shared. */
function sharedKeyIn(file: string): string | undefined {
  try {
    const opened = openSync(file, constants.O_APPEND | constants.O_WRONLY);
    try {
      writeSync(opened, 'again\n');
    } finally {
      closeSync(opened);
    }
    return readFileSync(file, 'utf8').split('\n')[0];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined; // that process has finished
    throw error;
  }
}

function contentOf({ action, final, archive, entry }: Step): readonly unknown[] {
  const bytes = entry && Buffer.from(entry.bytes).toString('base64');
  return [action, final, archive?.sha256, archive?.filename, bytes];
}

function digestOf(values: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}
