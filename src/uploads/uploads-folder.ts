import path from 'node:path';
import { DurableFolders, syncFolder } from '../durable-folders.ts';
import { replaceFile } from '../replace-file.ts';
import { files } from '../tools/files.ts';
import { orUploadsUnavailable } from './upload-fault.ts';
import {
  LENGTH_POSITION,
  paddedLength,
  parsedRecord,
  recordText,
  type UploadRecord,
} from './upload-record.ts';

const RECORD = /^[0-9a-f-]{36}\.json$/;
const LEFT_BY_CRASH = /\.(json\.new|bytes)$/;

export type FoundRecords = {
  readonly records: readonly UploadRecord[];
  /** Names of record files that this release does not understand, such as those of a newer one. */
  readonly unknown: readonly string[];
};

/** Where uploads lie: of each a record, `<id>.json`, and its bytes, `<id>.bytes`. */
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
   * Returns the records and removes what a crash has left without one. Retains records that it does not understand,
   * with their bytes: a newer release continues them. Only for the one process that has the folder.
   */
  async records(): Promise<FoundRecords> {
    const names = await files.readdir(this.#folder);
    const records: UploadRecord[] = [];
    const unknown: string[] = [];
    for (const name of names.filter((one) => RECORD.test(one))) {
      const record = await this.#read(name);
      if (record) records.push(record);
      else unknown.push(name);
    }
    const retained = new Set([...records.flatMap(namesOf), ...unknown.map(bytesNameOf)]);
    const left = names.filter((name) => LEFT_BY_CRASH.test(name) && !retained.has(name));
    for (const name of left) await files.rm(path.join(this.#folder, name), { force: true });
    return { records, unknown };
  }

  /** Resolves when the upload is there, without bytes, whatever happens to the machine. Nothing of it stays otherwise. */
  async add(record: UploadRecord): Promise<void> {
    const bytes = this.bytesOf(record.id);
    const making = async (): Promise<void> => {
      try {
        const handle = await files.open(bytes, 'wx');
        await handle.close();
        await this.#write(record);
      } catch (error) {
        await removeIfThere(bytes, this.#recordOf(record.id));
        throw error;
      }
    };
    await orUploadsUnavailable(making());
  }

  /** Resolves when it is what will be read after a crash. */
  async write(record: UploadRecord): Promise<void> {
    await orUploadsUnavailable(this.#write(record));
  }

  /**
   * Resolves when the record says so, also after a power cut. Overwrites the number in place, which takes one sync of
   * one block and no space: a new file for each piece would take two syncs and fail on a full disk.
   */
  async writeLength(id: string, length: number): Promise<void> {
    await using handle = await files.open(this.#recordOf(id), 'r+');
    await handle.write(paddedLength(length), LENGTH_POSITION);
    await handle.datasync();
  }

  /** The record goes first: bytes without one are removed at the next start. */
  async remove(id: string): Promise<void> {
    const removing = async (): Promise<void> => {
      await files.rm(this.#recordOf(id), { force: true });
      await syncFolder(this.#folder);
      await this.removeBytes(id);
    };
    await orUploadsUnavailable(removing());
  }

  async removeBytes(id: string): Promise<void> {
    await files.rm(this.bytesOf(id), { force: true });
  }

  #recordOf(id: string): string {
    return path.join(this.#folder, `${id}.json`);
  }

  async #write(record: UploadRecord): Promise<void> {
    await replaceFile(this.#recordOf(record.id), recordText(record), { durable: true });
  }

  /** Returns `undefined` for what this release does not understand. */
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

/** What cannot be removed is removed at the next start, and must not hide why it has to be. */
async function removeIfThere(...paths: readonly string[]): Promise<void> {
  await Promise.allSettled(paths.map((file) => files.rm(file, { force: true })));
}

function bytesNameOf(record: string): string {
  return record.replace(/json$/, 'bytes');
}

/** The files an upload has; one that was used has no bytes any more. */
function namesOf({ id, state }: UploadRecord): string[] {
  return state.status === 'used' ? [`${id}.json`] : [`${id}.json`, `${id}.bytes`];
}
