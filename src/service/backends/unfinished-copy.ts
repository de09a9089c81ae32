import path from 'node:path';
import type { EventLogConfig } from '../../config/config.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { unlessMissing } from '../../tools/files/access.ts';
import { syncFolder } from '../../tools/files/durable-directory.ts';
import { writeFileAtomic } from '../../tools/files/write-file-atomic.ts';
import { files } from '../../tools/files.ts';
import { logIdentity } from './view-directory.ts';

/** A log has a part of what was to be copied into it: a service would append to it, and the rest no longer fits. */
class CopyUnfinished extends errorsOfCode('COPY_UNFINISHED') {}

type CopyCommand = 'import' | 'migrate' | 'restore';

/** Records durably with a log that a command begins to copy into it. */
export async function beginCopy(target: EventLogConfig, command: CopyCommand): Promise<void> {
  if (target.kind === 'sqlite') return await writeFileAtomic(markerOf(target), command, { durable: true });
  await using marker = await openMarker(target);
  await marker.write({ command });
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

/** @throws {CopyUnfinished} */
export async function assertNoUnfinishedCopy(log: EventLogConfig): Promise<void> {
  const command = await unfinishedCopy(log);
  if (command === undefined) return;
  const [place, marker] =
    log.kind === 'sqlite'
      ? [log.file, `remove ${markerOf(log)}`]
      : [logIdentity(log), 'replace the metadata of its stream copy-unfinished by {}'];
  throw new CopyUnfinished(
    `"deposit-service ${command}" into ${place} is not finished: run the same command again. To use what is there without the rest, ${marker}.`,
  );
}

/** Resolves to the command whose copy into the log is not finished. */
async function unfinishedCopy(log: EventLogConfig): Promise<string | undefined> {
  if (log.kind === 'sqlite')
    return await files.readFile(markerOf(log), 'utf8').catch(unlessMissing(undefined, 'ENOTDIR'));
  await using marker = await openMarker(log);
  const { command } = (await marker.read()) as { readonly command?: string };
  return command;
}

function markerOf({ file }: Extract<EventLogConfig, { kind: 'sqlite' }>): string {
  return `${file}.copy-unfinished`;
}

async function openMarker(log: Exclude<EventLogConfig, { kind: 'sqlite' }>) {
  const { EventStoreDbStreamMetadata } = await import('../../event-log/eventstoredb/stream-metadata.ts');
  return new EventStoreDbStreamMetadata(log, 'copy-unfinished');
}
