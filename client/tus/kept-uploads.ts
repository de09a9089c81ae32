import { readdirSync, readFileSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { clock } from '../../src/tools/clock.ts';
import type { PreparedArchive } from '../archives/prepare-archive.ts';
import { readEnvironment } from '../environment.ts';
import type { Login } from '../settings.ts';
import {
  ageOf,
  ignoreErrors,
  isInUse,
  nameFor,
  openStateFolder,
  removeFile,
  replaceFile,
  THIS_PROCESS,
} from '../state-files.ts';

/** Maximum age of a stored upload, in milliseconds: no server retains unfinished uploads for longer. */
const MAX_AGE_MS = 30 * 24 * 3600_000;
/** Milliseconds between two updates by a sender. */
const TOUCH_INTERVAL_MS = 60_000;

/**
 * Stores the IRI of an archive's upload on disk, so that a later process can resume it.
 * The file is named by a hash of the content, so that a changed archive is not resumed. Errors are ignored: then the
 * upload starts over.
 */
export class KeptUploads {
  readonly #file: string;
  /** Owner of the upload: IRI of the uploads, and user. */
  readonly #owner: readonly string[];
  #touchedAt = 0;

  constructor({ user }: Login, uploads: string, { sha256, length }: PreparedArchive) {
    const name = nameFor([uploads, user, sha256, length]);
    this.#file = path.join(readEnvironment().folder, 'uploads', name);
    this.#owner = [uploads, user];
  }

  find(): string | undefined {
    const [upload = ''] = linesOf(this.#file);
    return URL.canParse(upload) ? upload : undefined; // a crash may leave anything
  }

  keep(upload: string): void {
    const content = [upload, ...this.#owner, THIS_PROCESS];
    ignoreErrors(() => {
      openStateFolder(path.dirname(this.#file), MAX_AGE_MS);
      replaceFile(this.#file, `${content.join('\n')}\n`);
    });
    this.#touchedAt = clock.now();
  }

  /** Records that the upload is in progress. */
  touch(): void {
    const now = clock.now();
    if (now - this.#touchedAt < TOUCH_INTERVAL_MS) return;
    this.#touchedAt = now;
    ignoreErrors(() => utimesSync(this.#file, now / 1000, now / 1000));
  }

  forget(): void {
    removeFile(this.#file);
  }

  /** Returns abandoned uploads of other archives, of the same user at the same IRI, oldest first. */
  abandoned(): { readonly upload: string; readonly forget: () => void }[] {
    return this.#others()
      .sort((a, b) => ageOf(b) - ageOf(a))
      .flatMap((file) => {
        const [upload, uploads, user, sender = ''] = linesOf(file);
        const isOurs = uploads === this.#owner[0] && user === this.#owner[1];
        return upload && isOurs && !isInUse(file, sender) ? [{ upload, forget: () => removeFile(file) }] : [];
      });
  }

  #others(): string[] {
    const folder = path.dirname(this.#file);
    const names = ignoreErrors(() => readdirSync(folder)) ?? [];
    return names.map((name) => path.join(folder, name)).filter((file) => file !== this.#file);
  }
}

function linesOf(file: string): string[] {
  return ignoreErrors(() => readFileSync(file, 'utf8'))?.split('\n') ?? [];
}
