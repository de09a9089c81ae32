import path from 'node:path';
import { mapConcurrent } from '../../tools/concurrency/limiter.ts';
import { DurableFolders, syncFolder } from '../../tools/files/durable-directory.ts';
import { writeFileAtomic } from '../../tools/files/write-file-atomic.ts';
import { files } from '../../tools/files.ts';
import {
  LENGTH_POSITION,
  paddedLength,
  parsedRecord,
  recordText,
  type UploadRecord,
} from './upload-record.ts';
import { orUploadsUnavailable } from './uploads-unavailable.ts';

const RECORD = /^[0-9a-f-]{36}\.json$/;
/** Maximum number of files of uploads that a start reads concurrently. */
export const MAX_CONCURRENT = 16;
const LEFT_BY_CRASH = /\.(json\.new|bytes)$/;

export type FoundRecords = {
  readonly records: readonly UploadRecord[];
  /** Names of record files that this release cannot read, for example of a newer one. */
  readonly unknown: readonly string[];
};

/** Folder of uploads; each has a record, `<id>.json`, and its bytes, `<id>.bytes`. */
export class UploadsFolder {
  readonly #folder: string;

  static async open(folder: string): Promise<UploadsFolder> {
    await orUploadsUnavailable(new DurableFolders(path.dirname(folder)).make(folder));
    return new UploadsFolder(folder);
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  bytesOf(id: string): string {
    return path.join(this.#folder, `${id}.bytes`);
  }

  /**
   * Returns the records and removes files without one, which a crash left. Retains unknown records with their bytes: a
   * newer release continues them. Only for the one process that owns the folder.
   */
  async records(): Promise<FoundRecords> {
    await syncFolder(this.#folder); // the last process may have been killed before it had
    const names = await files.readdir(this.#folder);
    const records: UploadRecord[] = [];
    const unknown: string[] = [];
    const found = names.filter((one) => RECORD.test(one));
    await mapConcurrent(found, MAX_CONCURRENT, async (name) => {
      const record = await this.#read(name);
      if (record) records.push(record);
      else unknown.push(name);
    });
    const retained = new Set([...records.flatMap(namesOf), ...unknown.map(bytesNameOf)]);
    const left = names.filter((name) => LEFT_BY_CRASH.test(name) && !retained.has(name));
    for (const name of left) await files.rm(path.join(this.#folder, name), { force: true });
    return { records, unknown };
  }

  /** Resolves when the upload exists durably, without bytes; on failure it leaves nothing. */
  async add(record: UploadRecord): Promise<void> {
    const bytes = this.bytesOf(record.id);
    const create = async (): Promise<void> => {
      try {
        const handle = await files.open(bytes, 'wx');
        await handle.close();
        await this.#write(record);
      } catch (error) {
        await removeIfPossible(bytes, this.#recordOf(record.id));
        throw error;
      }
    };
    await orUploadsUnavailable(create());
  }

  /** Resolves when the record is durable. */
  async write(record: UploadRecord): Promise<void> {
    await orUploadsUnavailable(this.#write(record));
  }

  /**
   * Resolves when the length is durable. Overwrites the number in place, which takes one sync of one block and no
   * space. A new file for each chunk would take two syncs and fail on a full disk.
   */
  async writeLength(id: string, length: number): Promise<void> {
    await using handle = await files.open(this.#recordOf(id), 'r+');
    await handle.write(paddedLength(length), LENGTH_POSITION);
    await handle.datasync();
  }

  /** Resolves when the record is durable as it is. */
  async sync(id: string): Promise<void> {
    const sync = async (): Promise<void> => {
      await using handle = await files.open(this.#recordOf(id), 'r+');
      await handle.datasync();
    };
    await orUploadsUnavailable(sync());
  }

  /** Removes the record, then the bytes: bytes without a record are removed at the next start. */
  async remove(id: string): Promise<void> {
    const removeAll = async (): Promise<void> => {
      await files.rm(this.#recordOf(id), { force: true });
      await syncFolder(this.#folder);
      await this.removeBytes(id);
    };
    await orUploadsUnavailable(removeAll());
  }

  async removeBytes(id: string): Promise<void> {
    await files.rm(this.bytesOf(id), { force: true });
  }

  #recordOf(id: string): string {
    return path.join(this.#folder, `${id}.json`);
  }

  async #write(record: UploadRecord): Promise<void> {
    await writeFileAtomic(this.#recordOf(record.id), recordText(record), { durable: true });
  }

  /** Returns `undefined` for a record that this release cannot read. */
  async #read(name: string): Promise<UploadRecord | undefined> {
    try {
      const record = parsedRecord(await files.readFile(path.join(this.#folder, name), 'utf8'));
      return record && `${record.id}.json` === name ? record : undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}

/** Removes files if possible. The next start removes the rest; an error here must not hide the original one. */
async function removeIfPossible(...paths: readonly string[]): Promise<void> {
  await Promise.allSettled(paths.map((file) => files.rm(file, { force: true })));
}

function bytesNameOf(record: string): string {
  return record.replace(/json$/, 'bytes');
}

/** Returns the names of an upload's files; a used one has no bytes. */
function namesOf({ id, state }: UploadRecord): string[] {
  return state.status === 'used' ? [`${id}.json`] : [`${id}.json`, `${id}.bytes`];
}
