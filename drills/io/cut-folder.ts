import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { JournalRecord } from './io-journal.ts';

/**
 * Outcomes of a power cut for unsynced changes: nothing remains; the names without the bytes; a random part; all of
 * it, as after a crash of the process alone.
 */
export const CUTS = ['lost', 'names', 'half', 'whole'] as const;
export type Cut = (typeof CUTS)[number];

const SECTOR_BYTES = 512;

type BytesChange =
  | { readonly kind: 'write'; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly length: number };

type NodeOfFile = { isFolder: boolean; durable: Buffer; unsynced: BytesChange[] };
type Names = Map<string, NodeOfFile>;
type NameChange = { readonly folders: readonly string[]; readonly apply: (names: Names) => void };

/** A folder as it is on the disk, and what the system has not written to it yet. */
export class CutFolder {
  readonly #durable: Names = new Map();
  readonly #names: Names;
  readonly #opened = new Map<number, NodeOfFile>();
  #unsynced: NameChange[] = [];
  #notes = '';

  /** Everything in the folder counts as synced. */
  constructor(folder: string) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      const bytes = entry.isFile() ? readFileSync(file) : Buffer.alloc(0);
      this.#durable.set(path.relative(folder, file), newNode(entry.isDirectory(), bytes));
    }
    this.#durable.set('', newNode(true));
    this.#names = new Map(this.#durable);
  }

  /** The notes of the drill, up to the last applied record of the journal. */
  get notes(): string {
    return this.#notes;
  }

  /** Applies a call. Returns whether a power cut after it can leave another folder than before. */
  apply(record: JournalRecord): boolean {
    const { kind, descriptor, file, other } = record;
    if (file === '.acknowledged') {
      if (kind === 'write') this.#notes += record.bytes.toString();
      return kind === 'write';
    }
    switch (kind) {
      case 'close':
        return false;
      case 'open':
        return this.#open(record);
      case 'write':
        this.#opened.get(descriptor)?.unsynced.push({ ...record, kind });
        return true;
      case 'truncate':
        this.#opened.get(descriptor)?.unsynced.push({ kind, length: record.offset });
        return true;
      case 'sync':
        this.#sync(this.#opened.get(descriptor), file);
        return true;
      case 'rename':
        this.#rename(file, other, record.offset === 0);
        return true;
      case 'unlink':
        this.#change([path.dirname(file)], (names) => void names.delete(file));
        return true;
      case 'mkdir':
        this.#make(file, newNode(true));
        return true;
      default:
        throw new Error(`The journal has a call ${JSON.stringify(kind satisfies never)}.`);
    }
  }

  /** Writes the folder as a power cut leaves it, into one that is made for it. Returns a digest of all that is in it. */
  write(folder: string, cut: Cut, random: () => number): string {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    const names = this.#namesAfter(cut, random);
    const digests: string[] = [];
    for (const file of [...names.keys()].toSorted()) {
      const node = names.get(file) as NodeOfFile; // one of its keys
      if (file === '' || file.endsWith('-shm') || !hasFolders(names, file)) continue;
      const bytes = node.isFolder ? undefined : bytesAfter(node, cut, random);
      if (bytes === undefined) mkdirSync(path.join(folder, file));
      else writeFileSync(path.join(folder, file), bytes, { mode: 0o600 });
      digests.push(`${file} ${bytes === undefined ? 'folder' : hash('sha256', bytes)}`);
    }
    return hash('sha256', digests.join('\n'));
  }

  #open({ descriptor, file, offset: how }: JournalRecord): boolean {
    const [isNew, isEmptied] = [(how & 1) !== 0, (how & 2) !== 0];
    if (isNew) this.#make(file, newNode(false));
    const node = this.#names.get(file);
    if (node === undefined) throw new Error(`${file} was opened, and is not there.`);
    this.#opened.set(descriptor, node);
    if (isEmptied && !isNew) node.unsynced.push({ kind: 'truncate', length: 0 });
    return isNew || isEmptied;
  }

  /** The bytes of a file, or the names in a folder, are on the disk. */
  #sync(node: NodeOfFile | undefined, folder: string): void {
    if (node === undefined) return;
    if (!node.isFolder) {
      node.durable = node.unsynced.reduce(changed, node.durable);
      node.unsynced = [];
      return;
    }
    const [synced, others] = [[] as NameChange[], [] as NameChange[]];
    for (const change of this.#unsynced) (change.folders.includes(folder) ? synced : others).push(change);
    for (const { apply } of synced) apply(this.#durable);
    this.#unsynced = others;
  }

  #rename(from: string, to: string, isMoved: boolean): void {
    const node = this.#names.get(from);
    if (node === undefined) throw new Error(`${from} was renamed, and is not there.`);
    this.#change([path.dirname(to), path.dirname(from)], (names) => {
      names.set(to, node);
      if (isMoved) names.delete(from);
    });
  }

  #make(file: string, node: NodeOfFile): void {
    this.#change([path.dirname(file)], (names) => void names.set(file, node));
  }

  #change(folders: readonly string[], apply: NameChange['apply']): void {
    const change = { folders: folders.map((folder) => (folder === '.' ? '' : folder)), apply };
    change.apply(this.#names);
    this.#unsynced.push(change);
  }

  #namesAfter(cut: Cut, random: () => number): Names {
    if (cut === 'whole' || cut === 'names') return this.#names;
    const names = new Map(this.#durable);
    const reached = cut === 'lost' ? 0 : Math.floor(random() * (this.#unsynced.length + 1));
    for (const { apply } of this.#unsynced.slice(0, reached)) apply(names);
    return names;
  }
}

function newNode(isFolder: boolean, durable: Buffer = Buffer.alloc(0)): NodeOfFile {
  return { isFolder, durable, unsynced: [] };
}

/** A name in a folder that has none is not there. */
function hasFolders(names: Names, file: string): boolean {
  const parent = path.dirname(file);
  return parent === '.' || (names.get(parent)?.isFolder === true && hasFolders(names, parent));
}

function bytesAfter({ durable, unsynced }: NodeOfFile, cut: Cut, random: () => number): Buffer {
  if (cut === 'lost' || cut === 'names') return durable;
  if (cut === 'whole') return unsynced.reduce(changed, durable);
  return unsynced.flatMap((change) => tornChange(change, random)).reduce(changed, durable);
}

/** All, nothing, or the first sectors of a change. */
function tornChange(change: BytesChange, random: () => number): BytesChange[] {
  const chance = random();
  if (chance < 1 / 3) return [];
  if (chance < 2 / 3 || change.kind !== 'write') return [change];
  const { offset, bytes } = change;
  const sectors = Math.floor((random() * bytes.length) / SECTOR_BYTES);
  return [
    { ...change, bytes: bytes.subarray(0, Math.max(0, sectors * SECTOR_BYTES - (offset % SECTOR_BYTES))) },
  ];
}

function changed(before: Buffer, change: BytesChange): Buffer {
  const length =
    change.kind === 'write' ? Math.max(before.length, change.offset + change.bytes.length) : change.length;
  const after = Buffer.alloc(length);
  before.copy(after);
  if (change.kind === 'write') change.bytes.copy(after, change.offset);
  return after;
}
