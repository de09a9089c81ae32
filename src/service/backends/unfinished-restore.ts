import path from 'node:path';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { writeFileAtomic } from '../../tools/files/write-file-atomic.ts';
import { files } from '../../tools/files.ts';

/** A restore was interrupted: a service would change the log, so that the rest could no longer be restored. */
class RestoreUnfinished extends errorsOfCode('RESTORE_UNFINISHED') {}

/** Records durably that a restore begins to write. */
export async function beginRestore(dataDir: string): Promise<void> {
  await writeFileAtomic(fileOf(dataDir), '', { durable: true });
}

/** Records that a restore has copied all that its backup has. */
export async function endRestore(dataDir: string): Promise<void> {
  await files.rm(fileOf(dataDir), { force: true });
}

/** @throws {RestoreUnfinished} */
export function assertNoUnfinishedRestore(dataDir: string): void {
  const file = fileOf(dataDir);
  if (files.statSync(file, { throwIfNoEntry: false }) === undefined) return;
  throw new RestoreUnfinished(
    `A restore into ${dataDir} was interrupted: run the same "deposit-service restore" again. To use what is there without the rest, remove ${file}.`,
  );
}

function fileOf(dataDir: string): string {
  return path.join(dataDir, 'restore-unfinished');
}
