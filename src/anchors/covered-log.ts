import type { EventLog, Position, RecordedEvent } from '../event-log/event-log.ts';
import { chainHash } from '../event-log/hash-chain.ts';
import { files } from '../tools/files.ts';
import { ANCHORS } from './anchor.ts';
import { coveredEvent } from './covered-event.ts';
import { MerkleTree, type MerkleTreeState } from './merkle-tree.ts';

const VERSION = 1;

/**
 * The Merkle tree over a whole log, kept up to date: its state is a small file, so that only what has come since is
 * read. A file that is lost or of another log only costs reading the log from its beginning.
 */
export class CoveredLog {
  readonly #log: EventLog;
  readonly #file: string;
  readonly #reached: Reached;

  static async open(log: EventLog, file: string): Promise<CoveredLog> {
    const saved = await savedState(file);
    const fits = saved !== undefined && (await holds(log, saved.last));
    return new CoveredLog(log, file, fits ? saved : undefined);
  }

  private constructor(log: EventLog, file: string, saved: Saved | undefined) {
    this.#log = log;
    this.#file = file;
    this.#reached = { tree: new MerkleTree(saved?.tree), other: saved?.other ?? 0, last: saved?.last };
  }

  get events(): number {
    return this.#reached.tree.size;
  }

  /** Number of the last event that is no anchor itself, from 1. */
  get lastOther(): number {
    return this.#reached.other;
  }

  root(): string {
    return this.#reached.tree.root();
  }

  /** Reads what has come. */
  async catchUp(signal?: AbortSignal): Promise<void> {
    const { tree, last } = this.#reached;
    const before = tree.size;
    const options = { after: last?.position, ...(signal && { signal }) };
    for await (const event of this.#log.readAll(options)) {
      tree.append(coveredEvent(event));
      if (event.stream !== ANCHORS) this.#reached.other = tree.size;
      this.#reached.last = lastOf(event);
    }
    if (tree.size > before) await this.#save();
  }

  async #save(): Promise<void> {
    const { tree, other, last } = this.#reached;
    const temporary = `${this.#file}.${process.pid}.new`;
    await files.writeFile(temporary, JSON.stringify({ version: VERSION, tree: tree.state, other, last }));
    await files.rename(temporary, this.#file);
  }
}

type LastEvent = Pick<RecordedEvent, 'stream' | 'revision' | 'id'> & {
  readonly position: Position;
  readonly hash: string | null;
};

type Reached = { readonly tree: MerkleTree; other: number; last: LastEvent | undefined };

type Saved = {
  readonly version: typeof VERSION;
  readonly tree: MerkleTreeState;
  readonly other: number;
  readonly last: LastEvent;
};

function lastOf(event: RecordedEvent): LastEvent {
  const { stream, revision, id, position } = event;
  return { stream, revision, id, position, hash: chainHash(event) };
}

async function holds(log: EventLog, last: LastEvent): Promise<boolean> {
  for await (const event of log.readStream(last.stream, { from: last.revision, limit: 1 })) {
    return JSON.stringify(lastOf(event)) === JSON.stringify(last);
  }
  return false;
}

async function savedState(file: string): Promise<Saved | undefined> {
  try {
    const saved = JSON.parse(await files.readFile(file, 'utf8')) as Partial<Saved>;
    const isOurs = saved.version === VERSION && saved.tree !== undefined && saved.last !== undefined;
    return isOurs ? (saved as Saved) : undefined; // written here, whole
  } catch {
    return undefined;
  }
}
