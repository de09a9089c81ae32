import type { EventLog, Position, RecordedEvent } from '../../event-log/event-log.ts';
import { chainHash } from '../../event-log/integrity/hash-chain.ts';
import { writeFileAtomic } from '../../tools/files/write-file-atomic.ts';
import { files } from '../../tools/files.ts';
import { ANCHORS } from './anchor.ts';
import { coveredEvent } from './merkle-leaf.ts';
import { isTreeState, MerkleTree, type MerkleTreeState } from './merkle-tree.ts';

const VERSION = 1;

/**
 * The Merkle tree over a whole log, updated incrementally. Its state is a small file, so that only new events are read.
 * If the file is missing or of another log, the log is read from its beginning.
 */
export class LogMerkleTree {
  readonly #log: EventLog;
  readonly #file: string;
  readonly #applied: Applied;

  static async open(log: EventLog, file: string): Promise<LogMerkleTree> {
    const saved = await readState(file);
    const fits = saved !== undefined && (await isInLog(log, saved.last));
    return new LogMerkleTree(log, file, fits ? saved : undefined);
  }

  private constructor(log: EventLog, file: string, saved: Saved | undefined) {
    this.#log = log;
    this.#file = file;
    this.#applied = { tree: new MerkleTree(saved?.tree), other: saved?.other ?? 0, last: saved?.last };
  }

  get events(): number {
    return this.#applied.tree.size;
  }

  /** Number of the last event that is not an anchor, from 1. */
  get lastOther(): number {
    return this.#applied.other;
  }

  root(): string {
    return this.#applied.tree.root();
  }

  /** Adds all new events of the log and saves the state. */
  async catchUp(signal?: AbortSignal): Promise<void> {
    const { tree, last } = this.#applied;
    const before = tree.size;
    const options = { after: last?.position, signal };
    for await (const event of this.#log.readAll(options)) {
      tree.append(coveredEvent(event));
      if (event.stream !== ANCHORS) this.#applied.other = tree.size;
      this.#applied.last = lastOf(event);
    }
    if (tree.size > before) await this.#save();
  }

  async #save(): Promise<void> {
    const { tree, other, last } = this.#applied;
    const state = { version: VERSION, tree: tree.state, other, last };
    await writeFileAtomic(this.#file, JSON.stringify(state)); // the lock of anchoring is held
  }
}

type LastEvent = Pick<RecordedEvent, 'stream' | 'revision' | 'id'> & {
  readonly position: Position;
  readonly hash: string | null;
};

type Applied = { readonly tree: MerkleTree; other: number; last: LastEvent | undefined };

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

async function isInLog(log: EventLog, last: LastEvent): Promise<boolean> {
  const [event] = await Array.fromAsync(log.readStream(last.stream, { from: last.revision, limit: 1 }));
  return event !== undefined && JSON.stringify(lastOf(event)) === JSON.stringify(last);
}

/** Resolves to `undefined` if there is no state, or none that can be used: the log is then read from its beginning. */
async function readState(file: string): Promise<Saved | undefined> {
  try {
    const saved = JSON.parse(await files.readFile(file, 'utf8')) as Partial<Saved>;
    return isSaved(saved) ? saved : undefined;
  } catch {
    return undefined;
  }
}

function isSaved(saved: Partial<Saved>): saved is Saved {
  const { version, tree, other = 0, last } = saved;
  return (
    version === VERSION &&
    isTreeState(tree) &&
    Number.isSafeInteger(other) &&
    typeof last?.stream === 'string' &&
    Number.isSafeInteger(last.revision)
  );
}
