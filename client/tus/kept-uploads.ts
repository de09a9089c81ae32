import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { clock } from '../../src/tools/clock.ts';
import type { PreparedArchive } from '../archives/prepare-archive.ts';
import { readEnvironment } from '../environment.ts';
import type { Login } from '../settings.ts';

/** No server keeps what is unfinished for longer, in milliseconds. */
const LONGEST_KEPT = 30 * 24 * 3600_000;
/** Whoever sends says so this often; who has not done so for longer, and cannot be asked, sends no more. */
const [TOUCHED_EVERY, GIVEN_UP_AFTER] = [60_000, 10 * 60_000];

/**
 * Where the upload of an archive is, kept for the case that this process ends before it does. The bytes of the
 * archive are its name, so nothing is gone on with that has changed since. What cannot be kept is not: then the
 * upload begins anew.
 */
export class KeptUploads {
  readonly #file: string;
  /** Whose the upload is: where it has begun, and the user. */
  readonly #owner: readonly string[];
  #touchedAt = 0;

  constructor({ user }: Login, uploads: string, { sha256, length }: PreparedArchive) {
    const key = JSON.stringify([uploads, user, sha256, length]);
    const name = createHash('sha256').update(key).digest('hex');
    this.#file = path.join(readEnvironment().folder, 'uploads', name);
    this.#owner = [uploads, user];
  }

  find(): string | undefined {
    return linesOf(this.#file)[0]?.trim() || undefined;
  }

  keep(upload: string): void {
    const content = [upload, ...this.#owner, `${process.pid} ${hostname()}`];
    quietly(() => {
      mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
      writeFileSync(this.#file, `${content.join('\n')}\n`, { mode: 0o600 });
    });
    this.#touchedAt = clock.now();
    for (const file of this.#others()) if (ageOf(file) > LONGEST_KEPT) forget(file);
  }

  /** It goes on. */
  touch(): void {
    const now = clock.now();
    if (now - this.#touchedAt < TOUCHED_EVERY) return;
    this.#touchedAt = now;
    quietly(() => utimesSync(this.#file, now / 1000, now / 1000));
  }

  forget(): void {
    forget(this.#file);
  }

  /** Uploads of other archives of the same user at the same place, oldest first, but for those that go on. */
  givenUp(): { readonly upload: string; readonly forget: () => void }[] {
    return this.#others()
      .sort((a, b) => ageOf(b) - ageOf(a))
      .flatMap((file) => {
        const [upload, uploads, user, sender = ''] = linesOf(file);
        const isOurs = uploads === this.#owner[0] && user === this.#owner[1];
        return upload && isOurs && !goesOn(file, sender) ? [{ upload, forget: () => forget(file) }] : [];
      });
  }

  #others(): string[] {
    const folder = path.dirname(this.#file);
    const names = quietly(() => readdirSync(folder)) ?? [];
    return names.map((name) => path.join(folder, name)).filter((file) => file !== this.#file);
  }
}

/** Another machine may share the folder. */
function goesOn(file: string, sender: string): boolean {
  if (ageOf(file) > GIVEN_UP_AFTER) return false;
  const [pid, host] = sender.split(' ');
  return host !== hostname() || isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function linesOf(file: string): string[] {
  return quietly(() => readFileSync(file, 'utf8'))?.split('\n') ?? [];
}

/** Milliseconds since it was touched; what is gone is new. */
function ageOf(file: string): number {
  return clock.now() - (quietly(() => statSync(file).mtimeMs) ?? clock.now());
}

function forget(file: string): void {
  quietly(() => rmSync(file, { force: true }));
}

function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
