import { type BigIntStats, copyFileSync, linkSync, lstatSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { clock } from '../../src/tools/clock.ts';
import { random } from '../../src/tools/random.ts';
import { readEnvironment } from '../environment.ts';
import { ignoreErrors, nameFor, openStateFolder, removeFile, replaceFile } from '../state-files.ts';
import { type FolderMember, onDisk } from './folder-members.ts';
import type { UnpackedLimits } from './unpacked-limits.ts';

/** Minimum bytes of an archive in the cache: smaller ones are prepared at once, and not resumed. */
const MIN_CACHED_BYTES = 8 * 1024 ** 2;
/** A file that changed this recently may change again without a new time; it is not cached. */
const RECENT_MS = 2000;
/** Maximum age of a cached archive: servers retain unfinished uploads for a shorter time. */
const MAX_AGE_MS = 7 * 24 * 3600_000;

/** Whether an archive is large enough for the cache. */
export function isCached({ length }: { readonly length: number }): boolean {
  return length >= MIN_CACHED_BYTES;
}

export type SourceState = {
  /** Names the sources and the options. */
  readonly key: string;
  /** Differs if anything was changed, added, removed or renamed; `null` if a change could go unnoticed. */
  readonly fingerprint: string | null;
};

/** A value, with the file that belongs to it: an archive that was packed. */
export type Cached<Value> = { readonly value: Value; readonly file: string | null };

/**
 * Stores what was computed of large archives until they are deposited, so that a repeated command packs and reads
 * nothing that has not changed. Errors are ignored: then it is computed again.
 */
export class PreparedCache implements Disposable {
  readonly #folder: string;
  readonly #used: string[] = [];
  readonly #links: string[] = [];

  constructor(folder = path.join(readEnvironment().cacheFolder, 'prepared')) {
    this.#folder = folder;
    process.once('exit', this.#removeLinks);
  }

  /** Returns what is stored of the same state. */
  find<Value>({ key, fingerprint }: SourceState): Cached<Value> | undefined {
    return ignoreErrors(() => {
      const stored = JSON.parse(readFileSync(this.#at(key, 'json'), 'utf8')) as {
        fingerprint: string;
        bytes: number | null;
        value: Value;
      }; // as stored below
      if (fingerprint === null || stored.fingerprint !== fingerprint) return undefined;
      this.#used.push(key);
      const file = stored.bytes === null ? null : this.#linkTo(this.#at(key, 'tar.gz'));
      return file === null || statSync(file).size === stored.bytes
        ? { value: stored.value, file }
        : undefined;
    });
  }

  /** Stores a value, and a copy of its file. */
  store({ key, fingerprint }: SourceState, value: unknown, file: string | null = null): void {
    if (fingerprint === null) return;
    ignoreErrors(() => {
      openStateFolder(this.#folder, MAX_AGE_MS);
      if (file !== null) replaceFile(this.#at(key, 'tar.gz'), (target) => copyFileSync(file, target));
      const bytes = file === null ? null : statSync(file).size;
      replaceFile(this.#at(key, 'json'), JSON.stringify({ fingerprint, bytes, value }));
      this.#used.push(key);
    });
  }

  /** Removes what this command has found or stored: it is deposited, or was refused. */
  forget(): void {
    for (const key of this.#used.splice(0))
      for (const ending of ['json', 'tar.gz']) removeFile(this.#at(key, ending));
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#removeLinks);
    this.#removeLinks();
  }

  /** Returns a name of this process for the file, which stays when another process removes the original. */
  #linkTo(file: string): string {
    const link = path.join(this.#folder, `${random.uuid()}.tar.gz`);
    this.#links.push(link);
    if (ignoreErrors(() => linkSync(file, link) ?? true) !== true) copyFileSync(file, link);
    return link;
  }

  readonly #removeLinks = (): void => {
    for (const file of this.#links.splice(0)) removeFile(file);
  };

  #at(key: string, ending: string): string {
    return path.join(this.#folder, `${key}.${ending}`);
  }
}

/** Returns the state of archives with these digests, read within limits: a value depends on nothing else. */
export function stateOfDigests(digests: readonly string[], limits: UnpackedLimits): SourceState {
  return { key: hashOf([...digests, JSON.stringify(limits)]), fingerprint: '' };
}

/**
 * Returns the state of a file, or of a folder with these members. Any change of a file gives it another change time,
 * which no program can set.
 */
export function stateOf(
  place: string,
  members: readonly FolderMember[] | null,
  options: string,
): SourceState {
  const key = hashOf([place, members === null ? 'file' : 'folder', options]);
  const now = clock.now();
  const lines: string[] = [];
  let newest = 0;
  const add = (name: string, { dev, ino, size, mode, mtimeNs, ctimeNs }: BigIntStats): void => {
    lines.push([dev, ino, size, mode, mtimeNs, ctimeNs, name].join(' '));
    newest = Math.max(newest, Number(ctimeNs / 1_000_000n));
  };
  try {
    if (members === null) add('', statSync(place, { bigint: true }));
    for (const member of members ?? []) {
      if (member.kind === 'file') add(member.path, lstatSync(onDisk(place, member.path), { bigint: true }));
      else lines.push(`${member.kind} ${member.path} ${member.kind === 'link' ? member.target : ''}`);
    }
  } catch {
    return { key, fingerprint: null };
  }
  return { key, fingerprint: newest > now - RECENT_MS ? null : hashOf(lines) };
}

/** Changes with the form of what is stored. */
const FORM = 2;

function hashOf(lines: readonly string[]): string {
  return nameFor([FORM, ...lines]);
}
