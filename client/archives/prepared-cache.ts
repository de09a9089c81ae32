import {
  type BigIntStats,
  copyFileSync,
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { clock } from '../../src/tools/clock.ts';
import { random } from '../../src/tools/random.ts';
import { readEnvironment } from '../environment.ts';
import { ignoreErrors, nameFor, openStateFolder, removeFile } from '../state-files.ts';
import { type FolderMember, onDisk } from './folder-members.ts';

/** Minimum bytes of an archive in the cache: smaller ones are prepared at once, and not resumed. */
const MIN_CACHED_BYTES = 8 * 1024 ** 2;
/** A file that changed this recently may change again without a new time; it is not cached. */
const RECENT_MS = 2000;
/** Maximum age of a cached archive: servers retain unfinished uploads for a shorter time. */
const MAX_AGE_MS = 7 * 24 * 3600_000;

/** The facts of a prepared archive that are stored; its file is in the cache if it was packed. */
export type CachedFacts = {
  readonly length: number;
  readonly md5: string;
  readonly sha256: string;
  readonly directory?: string;
};

/** The state of a source when it was prepared. */
export type SourceState = {
  /** Names the source and the options of packing. */
  readonly key: string;
  /** Differs if any file was changed, added, removed or renamed; `null` if a change could go unnoticed. */
  readonly fingerprint: string | null;
};

/**
 * Stores large prepared archives on disk until they are deposited, so that a repeated command packs and hashes nothing
 * that has not changed. Errors are ignored: then the archive is prepared again.
 */
export class PreparedCache implements Disposable {
  readonly #folder: string;
  readonly #stored: string[] = [];
  readonly #own: string[] = [];

  constructor(folder = path.join(readEnvironment().cacheFolder, 'prepared')) {
    this.#folder = folder;
    process.once('exit', this.#removeOwn);
  }

  /** Returns the facts of the unchanged source, and the packed archive if it was a folder. */
  find({ key, fingerprint }: SourceState): (CachedFacts & { readonly packed: string | null }) | undefined {
    return ignoreErrors(() => {
      const known = this.#read(key) as CachedFacts & { fingerprint: string; packed: boolean }; // as stored below
      if (fingerprint === null || known.fingerprint !== fingerprint) return undefined;
      this.#stored.push(key);
      const { packed, fingerprint: _, ...facts } = known;
      if (!packed) return { ...facts, packed: null };
      const file = this.#ownLinkTo(this.#at(key, 'tar.gz'));
      return statSync(file).size === facts.length ? { ...facts, packed: file } : undefined;
    });
  }

  /** Stores the facts of a large archive, and a copy of the packed archive. */
  store({ key, fingerprint }: SourceState, facts: CachedFacts, packed: string | null): void {
    if (fingerprint === null || facts.length < MIN_CACHED_BYTES) return;
    ignoreErrors(() => {
      openStateFolder(this.#folder, MAX_AGE_MS);
      if (packed !== null) this.#replace(this.#at(key, 'tar.gz'), (target) => copyFileSync(packed, target));
      this.#write(key, { fingerprint, packed: packed !== null, ...facts });
    });
  }

  /** Returns the result that was computed from archives with these digests. */
  findResult(digests: readonly string[]): unknown {
    const key = hashOf(digests);
    return ignoreErrors(() => {
      const result = this.#read(key);
      this.#stored.push(key);
      return result;
    });
  }

  /** Stores a result that depends on the archives with these digests alone, if one of them is in the cache. */
  storeResult(digests: readonly string[], result: unknown): void {
    if (this.#stored.length === 0) return;
    ignoreErrors(() => this.#write(hashOf(digests), result));
  }

  /** Removes what this command has found or stored: it is deposited, or was refused. */
  forget(): void {
    for (const key of this.#stored.splice(0))
      for (const ending of ['json', 'tar.gz']) removeFile(this.#at(key, ending));
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#removeOwn);
    this.#removeOwn();
  }

  /** Returns a name of this process for the file, which stays when another process removes the original. */
  #ownLinkTo(file: string): string {
    const own = path.join(this.#folder, `${random.uuid()}.tar.gz`);
    this.#own.push(own);
    if (ignoreErrors(() => linkSync(file, own) ?? true) !== true) copyFileSync(file, own);
    return own;
  }

  #read(key: string): unknown {
    return JSON.parse(readFileSync(this.#at(key, 'json'), 'utf8'));
  }

  #write(key: string, value: unknown): void {
    const content = JSON.stringify(value);
    this.#replace(this.#at(key, 'json'), (target) => writeFileSync(target, content, { mode: 0o600 }));
    this.#stored.push(key);
  }

  #replace(file: string, write: (target: string) => void): void {
    const incoming = `${file}.${random.uuid()}`;
    this.#own.push(incoming);
    write(incoming);
    renameSync(incoming, file);
  }

  readonly #removeOwn = (): void => {
    for (const file of this.#own.splice(0)) removeFile(file);
  };

  #at(key: string, ending: string): string {
    return path.join(this.#folder, `${key}.${ending}`);
  }
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

/** Changes with the form of the stored facts. */
const FORM = 1;

function hashOf(lines: readonly string[]): string {
  return nameFor([FORM, ...lines]);
}
