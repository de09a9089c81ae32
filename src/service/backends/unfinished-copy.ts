import path from 'node:path';
import type { EventLogConfig } from '../../config/config.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { exists, unlessMissing } from '../../tools/files/access.ts';
import { syncFolder } from '../../tools/files/durable-directory.ts';
import { writeFileAtomic } from '../../tools/files/write-file-atomic.ts';
import { files } from '../../tools/files.ts';
import type { Logger } from '../../tools/logger.ts';
import { logIdentity } from './engine-places.ts';

/** A log has a part of what was to be copied into it: a service would append to it, and the rest no longer fits. */
class CopyUnfinished extends errorsOfCode('COPY_UNFINISHED') {}

/** Its metadata on EventStoreDB name the command whose copy is not finished. */
const STREAM = 'copy-unfinished';

type CopyCommand = 'import' | 'migrate' | 'restore';

/** Records durably with a log that a command begins to copy into it. */
export async function beginCopy(target: EventLogConfig, command: CopyCommand): Promise<void> {
  if (target.kind === 'sqlite') return await writeFileAtomic(markerOf(target), command, { durable: true });
  await using marker = await openMarker(target);
  await marker.write({ command });
}

/**
 * Records the same before the log is created. Otherwise a disk may have space for an empty log and not for the record,
 * and a service would start on the log.
 * @throws {CopyUnfinished} another command has begun to copy into it
 */
export async function beginCopyIntoNew(target: EventLogConfig, command: CopyCommand): Promise<void> {
  if (target.kind !== 'sqlite' || exists(target.file)) return;
  if (!exists(path.dirname(target.file))) return; // the log will not open
  await assertNoOtherCopy(target, command);
  await beginCopy(target, command);
}

/** Records that a log has everything that was to be copied into it. */
export async function endCopy(target: EventLogConfig): Promise<void> {
  if ((await unfinishedCopy(target)) === undefined) return;
  if (target.kind === 'sqlite') {
    await files.rm(markerOf(target));
    return await syncFolder(path.dirname(target.file));
  }
  await using marker = await openMarker(target);
  await marker.write({});
}

/**
 * Warns if that cannot be known: a user of EventStoreDB may not be allowed to read metadata of streams.
 * @throws {CopyUnfinished}
 */
export async function assertNoUnfinishedCopy(log: EventLogConfig, logger?: Logger): Promise<void> {
  const command = await unfinishedCopy(log);
  if (command === undefined) return;
  if (command === 'denied')
    return logger?.warn({ stream: STREAM }, 'whether a copy into the event log is unfinished cannot be read');
  throw copyUnfinishedError(log, command);
}

/**
 * Verifies that a command may copy into a log: no other command has begun to.
 * @throws {CopyUnfinished}
 */
export async function assertNoOtherCopy(target: EventLogConfig, command: CopyCommand): Promise<void> {
  const unfinished = await unfinishedCopy(target);
  if (unfinished === undefined || unfinished === 'denied' || unfinished === command) return;
  throw copyUnfinishedError(target, unfinished);
}

function copyUnfinishedError(log: EventLogConfig, command: string): CopyUnfinished {
  const [place, marker] =
    log.kind === 'sqlite'
      ? [log.file, `remove ${markerOf(log)}`]
      : [logIdentity(log), `replace the metadata of its stream ${STREAM} by {}`];
  return new CopyUnfinished(
    `"deposit-service ${command}" into ${place} is not finished: run the same command again. To use what is there without the rest, ${marker}.`,
  );
}

/**
 * Resolves to the command whose copy into the log is not finished; to `'denied'` if the user may not read that on a
 * server. @throws {NotPermitted}
 */
async function unfinishedCopy(log: EventLogConfig): Promise<string | undefined> {
  if (log.kind === 'sqlite') {
    exists(log.file); // a permission that is missing names the log, not a mark that it may not have
    return await files.readFile(markerOf(log), 'utf8').catch(unlessMissing(undefined, 'ENOTDIR'));
  }
  await using marker = await openMarker(log);
  const metadata = await marker.read();
  return metadata === 'denied' ? metadata : (metadata['command'] as CopyCommand | undefined); // as it was written
}

function markerOf({ file }: Extract<EventLogConfig, { kind: 'sqlite' }>): string {
  return `${file}.copy-unfinished`;
}

async function openMarker(log: Exclude<EventLogConfig, { kind: 'sqlite' }>) {
  const { EventStoreDbStreamMetadata } = await import('../../event-log/eventstoredb/stream-metadata.ts');
  return new EventStoreDbStreamMetadata(log, STREAM);
}
