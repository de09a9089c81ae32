import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { PreparedArchive } from '../archives/prepare-archive.ts';
import { readEnvironment } from '../environment.ts';
import type { Login } from '../settings.ts';

/**
 * Where the upload of an archive is, kept for the case that this process ends before it does. The bytes of the
 * archive are its name, so nothing is gone on with that has changed since. What cannot be kept is not: then the
 * upload begins anew.
 */
export class KeptUploads {
  readonly #file: string;

  constructor({ user }: Login, uploads: string, { sha256, length }: PreparedArchive) {
    const key = JSON.stringify([uploads, user, sha256, length]);
    const name = createHash('sha256').update(key).digest('hex');
    this.#file = path.join(readEnvironment().folder, 'uploads', name);
  }

  find(): string | undefined {
    return quietly(() => readFileSync(this.#file, 'utf8').trim()) || undefined;
  }

  keep(upload: string): void {
    quietly(() => {
      mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
      writeFileSync(this.#file, `${upload}\n`, { mode: 0o600 });
    });
  }

  forget(): void {
    quietly(() => rmSync(this.#file, { force: true }));
  }
}

function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
