import { constants, linkSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { withDescriptor } from '../../src/tools/files/with-descriptor.ts';
import { random } from '../../src/tools/random.ts';
import type { Collection } from '../documents/service-document.ts';
import { readEnvironment } from '../environment.ts';
import { reasonOf } from '../faults.ts';
import { ignoreErrors, nameFor, openStateFolder, removeFile } from '../state-files.ts';
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
 * The file has a line for the key, and one for each further process.
 */
export class StoredKey {
  readonly file: string;
  readonly #name: string;
  readonly #options: StoredKeyOptions;
  #key = random.uuid();
  #isStored = false;

  /** Stores a key, or finds that of another process. */
  constructor(plan: readonly Step[], options: StoredKeyOptions) {
    const { collection, user, slug, deposit } = options;
    this.#name = nameFor([collection.iri, user, slug, deposit, ...plan.map(contentOf)]);
    this.file = path.join(readEnvironment().folder, 'requests', this.#name);
    this.#options = options;
    this.#store();
  }

  /** Returns the key of a request, equal in all processes. No two creations have different keys, whatever they contain. */
  of(request: 'creation' | number): string {
    return nameFor([this.#name, this.#key, request]); // differs by command also if a crash has emptied the files
  }

  /** Whether the same command, run again, has the same key: on this server it then makes no second deposit. */
  get isStored(): boolean {
    return this.#isStored;
  }

  /** Whether another process has the same key, now or earlier: requests may be recorded already. */
  get isShared(): boolean {
    if (!this.#isStored) return false;
    return ignoreErrors(() => readFileSync(this.file, 'utf8'))?.includes(SHARED) ?? true;
  }

  /** Removes the key, but not one that another process has stored since. */
  forget(): void {
    if (ignoreErrors(() => keyIn(readFileSync(this.file, 'utf8'))) === this.#key) removeFile(this.file);
  }

  /** Replaces the key: no request with it counts any longer. */
  renew(): void {
    this.forget();
    this.#key = random.uuid();
    this.#store();
  }

  #store(): void {
    this.#isStored = false;
    if (!this.#options.collection.recognisesRepeats) return; // another process could not continue
    try {
      openStateFolder(path.dirname(this.file), MAX_AGE_MS);
      this.#key = keyIn(storedIn(this.file, `${this.#key}\n`));
      this.#isStored = true;
    } catch (error) {
      const text = `${this.file} cannot be written: ${reasonOf(error)}.`;
      this.#options.note(
        `${text} If this command is interrupted, check with deposit list before you run it again.`,
      );
    }
  }
}

const SHARED = 'again\n';

/** Writes the file and returns its content; if it exists, records that another process uses it, too. */
function storedIn(file: string, content: string): string {
  const own = `${file}.${random.uuid()}`;
  try {
    writeFileSync(own, content, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(own, file); // atomic, also on a network
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return sharedContentOf(file) ?? storedIn(file, content);
    if (syscall !== 'link') throw error;
    renameSync(own, file); // some file systems have no links
  } finally {
    removeFile(own);
  }
  return content;
}

function sharedContentOf(file: string): string | undefined {
  try {
    withDescriptor(file, constants.O_APPEND | constants.O_WRONLY, (opened) => writeSync(opened, SHARED));
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined; // that process has finished
    throw error;
  }
}

function keyIn(content: string): string {
  return content.split('\n')[0] ?? '';
}

function contentOf({ action, final, archive, entry }: Step): readonly unknown[] {
  const bytes = entry && Buffer.from(entry.bytes).toString('base64');
  return [action, final, archive?.sha256, archive?.filename, bytes];
}
