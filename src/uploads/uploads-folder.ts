import { open, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { DurableFolders, syncFolder } from '../durable-folders.ts';
import { replaceFile } from '../replace-file.ts';
import { orUploadsUnavailable } from './upload-fault.ts';
import { isRecord, type UploadRecord } from './upload-record.ts';

const RECORD = /^[0-9a-f-]{36}\.json$/;
const OURS = /\.(json|json\.new|bytes)$/;

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

  /** Every record; what a crash has left besides is removed. Only for the one process that has the folder. */
  async records(): Promise<UploadRecord[]> {
    const names = await readdir(this.#folder);
    const records: UploadRecord[] = [];
    for (const name of names.filter((one) => RECORD.test(one))) {
      const record = await this.#read(name);
      if (record) records.push(record);
    }
    const known = new Set(records.flatMap(namesOf));
    const left = names.filter((name) => OURS.test(name) && !known.has(name));
    for (const name of left) await rm(path.join(this.#folder, name), { force: true });
    return records;
  }

  /** Resolves when the upload is there, without bytes, whatever happens to the machine. Nothing of it stays otherwise. */
  async add(record: UploadRecord): Promise<void> {
    const bytes = this.bytesOf(record.id);
    const making = async (): Promise<void> => {
      try {
        const handle = await open(bytes, 'wx');
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

  /** The record goes first: bytes without one are removed at the next start. */
  async remove(id: string): Promise<void> {
    const removing = async (): Promise<void> => {
      await rm(this.#recordOf(id), { force: true });
      await syncFolder(this.#folder);
      await this.removeBytes(id);
    };
    await orUploadsUnavailable(removing());
  }

  async removeBytes(id: string): Promise<void> {
    await rm(this.bytesOf(id), { force: true });
  }

  #recordOf(id: string): string {
    return path.join(this.#folder, `${id}.json`);
  }

  async #write(record: UploadRecord): Promise<void> {
    await replaceFile(this.#recordOf(record.id), JSON.stringify(record), { durable: true });
  }

  /** `undefined` for what nobody here has written. */
  async #read(name: string): Promise<UploadRecord | undefined> {
    try {
      const record: unknown = JSON.parse(await readFile(path.join(this.#folder, name), 'utf8'));
      return isRecord(record) && `${record.id}.json` === name ? record : undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}

/** What cannot be removed is removed at the next start, and must not hide why it has to be. */
async function removeIfThere(...files: readonly string[]): Promise<void> {
  await Promise.allSettled(files.map((file) => rm(file, { force: true })));
}

/** The files an upload has; one that was used has no bytes any more. */
function namesOf({ id, state }: UploadRecord): string[] {
  return state.status === 'used' ? [`${id}.json`] : [`${id}.json`, `${id}.bytes`];
}
