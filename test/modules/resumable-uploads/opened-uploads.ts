import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { ResumableUploads } from '../../../src/modules/resumable-uploads/resumable-uploads.ts';
import { silentLogger } from '../../../src/tools/logger.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';

export const LIMITS = { maxSize: 2 ** 30, perClient: 100, totalSize: 2 ** 32, expiry: 3_600_000 };
export const OWNER = { client: 'alice', collection: 'software' } as const;

/** Opens the uploads of a folder until the end of the test. */
export async function opened(t: ExecutionContext, folder: string): Promise<ResumableUploads> {
  const uploads = await ResumableUploads.open({ folder, limits: LIMITS, logger: silentLogger });
  t.teardown(() => uploads[Symbol.asyncDispose]());
  return uploads;
}

/** Creates an upload in a new folder. */
export async function begun(t: ExecutionContext, length: number) {
  const folder = path.join(await temporaryFolder(t), 'uploads');
  const upload = await (await opened(t, folder)).create({ ...OWNER, length, metadata: null });
  return { upload, file: path.join(folder, `${upload.id}.bytes`), folder };
}

/** Yields chunks of `size` bytes, with pauses in which the previous one is written. */
export async function* slowly(bytes: Buffer, size = bytes.length): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size);
    await pause(20);
  }
}
