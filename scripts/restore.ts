import path from 'node:path';
import { readConfig } from '../src/config/read-config.ts';
import { objectsReferenced } from '../src/deposits/objects-in-log.ts';
import { pluralize } from '../src/domain/description.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import type { CopyableEvent } from '../src/event-log/integrity/copyable-event.ts';
import {
  assertApart,
  type BackupFacts,
  keepBackupPrivate,
  readBackup,
} from '../src/operations/backup/backup-folder.ts';
import { restoreKeys } from '../src/operations/backup/backup-keys.ts';
import { isComplete, reportCopied, shortcomings } from '../src/operations/backup/copied-objects.ts';
import { openBackupLog, openBackupStore } from '../src/operations/backup/open-backup.ts';
import { assertFreeStore, bindingOfEarlierRun } from '../src/operations/backup/restored-binding.ts';
import { onlyPositional, readArguments } from '../src/operations/command/arguments.ts';
import { refused, runCommand, stopSignal, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say, warn } from '../src/operations/command/output.ts';
import { onTarget } from '../src/operations/copy/copy-target.ts';
import { verifyCopy } from '../src/operations/copy/copy-verification.ts';
import { copyEvents } from '../src/operations/copy/log-copy.ts';
import { copyStore } from '../src/operations/copy/store-copy.ts';
import { storePlace } from '../src/service/backends/engine-places.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { openStore } from '../src/service/backends/open-store.ts';
import { appendBinding, boundStore, lastBinding } from '../src/service/backends/store-binding.ts';
import { beginCopy, beginCopyIntoNew, endCopy } from '../src/service/backends/unfinished-copy.ts';
import { lockDataFolder } from '../src/service/operator-port/data-directory-lock.ts';
import { exists } from '../src/tools/files/access.ts';
import { random } from '../src/tools/random.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';
import { snapshotObjects } from '../src/views/snapshots/snapshot-records.ts';

const HELP = `Restores a backup into an empty data folder, or into the engines of the settings. The service must not run.

Usage: deposit-service restore DIR [--last-complete | --latest] [--verify] [--take-over] [--json]

--last-complete  the events of the last complete backup, and their objects; later events are left out
--latest         all events, and the existing objects
--verify         read every restored object again, compare its digest, and replace corrupt ones
--take-over      give existing objects the new id, whatever log they belonged to

Nothing is overwritten: a log that contains anything but the beginning of the backup is refused. To resume an interrupted
run, repeat the same command: no service starts before it has finished. Every event is compared and every hash recomputed
at the end; every object is verified while it is copied. The keys go where DEPOSIT_WEBHOOK_KEY_FILE and
DEPOSIT_ANCHOR_KEY_FILE say, or into the data folder. Views are built when the service starts. If the last backup into DIR
was interrupted or not complete, choose --last-complete or --latest. Log and objects get a new id, by which they belong
together. Objects that have an id are refused.

Exit codes: 0 done; 1 refused, failed, a key could not be written, or an object that an event names is missing, after which
no service starts, for the object unless --latest; 2 wrong usage.
`;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    'last-complete': { type: 'boolean', default: false },
    latest: { type: 'boolean', default: false },
    verify: { type: 'boolean', default: false },
    'take-over': { type: 'boolean', default: false },
    json: { type: 'boolean' },
  });
  if (values['last-complete'] && values.latest)
    throw new UsageError('--last-complete cannot be combined with --latest.');
  const folder = path.resolve(onlyPositional(positionals, 'DIR'));
  if (!exists(folder)) throw refused('NO_BACKUP', `${folder} not found.`);
  const backup = readBackup(folder);
  if (!backup && !values.latest) throw refused('NO_BACKUP', noBackup(folder));
  const config = readConfig();
  assertApart(folder, config);
  keepBackupPrivate(config);
  using _only = lockDataFolder(config);
  const signal = stopSignal('Stopped. Run the same command again to resume.');
  using bars = new ProgressBars();
  await using source = await openBackupLog(folder);
  await using sourceStore = await openBackupStore(folder);
  const total = await eventsToRestore(source, { folder, backup, ...values }, signal);
  await beginCopyIntoNew(config.eventLog, 'restore');
  await using target = await openLog(config);
  const into = `The target ${storePlace(config.archiveStore)}`;
  await using store = await onTarget(openStore(config), into);
  const earlier = await bindingOfEarlierRun(source, target);
  if (!values['take-over']) await assertFreeStore(store, earlier, source);
  const wanted = () => restored(first(total, source.readAll({ signal })), earlier);
  await copyEvents(wanted(), target, {
    engine: config.eventLog.kind,
    onBeforeAppend: () => beginCopy(config.eventLog, 'restore'),
    progress: (step, events) => bars.at(`events ${step}`, events, total),
    signal,
  });
  await verifyCopy(wanted(), target.readAll({ signal }), {
    total,
    progress: (events) => bars.at('events verified', events, total),
  });
  await beginCopy(config.eventLog, 'restore'); // the log may have had all events, but not the objects and keys
  if (!earlier) await appendBinding(target, random.uuid(), await lastBinding(target));
  const objects = await copyStore(sourceStore, store, {
    into,
    named: objectsReferenced(target, { signal }),
    leftOut: await snapshotObjects(target),
    verify: values.verify,
    progress: (step, ...counts) => bars.at(`objects ${step}`, ...counts),
    signal,
  });
  bars.end();
  await onTarget(store.setId((await boundStore(target)) as string), into); // appended above
  const keyProblems = await restoreKeys(folder, config);
  const lacksObjects = !isComplete(objects) && !values.latest;
  // A service that starts creates the keys that are missing.
  if (keyProblems.length === 0 && !lacksObjects) await endCopy(config.eventLog);
  for (const problem of keyProblems) warn(problem);
  if (keyProblems.length > 0) warn('No service starts until the same command has put every key in place.');
  reportCopied(objects, 'Not restored');
  if (lacksObjects)
    warn(
      'No service starts until the same command has restored every object that an event names, or --latest what there is.',
    );
  const missing = shortcomings(objects);
  if (keyProblems.length > 0) missing.push(`${pluralize(keyProblems.length, 'key')} could not be written`);
  const complete = missing.length === 0;
  const facts = { events: total, complete, ...objects, keyProblems, backup: backup ?? null };
  if (values.json) say(jsonLine(facts));
  else {
    if (!complete) say(`The restore is not complete: ${missing.join('; ')}.`);
    const date = complete && backup?.events === total ? ` of ${backup.finishedAt}` : '';
    say(
      `Restored ${pluralize(total, 'event')} and ${pluralize(objects.objects, 'object')} (${pluralize(objects.bytes, 'byte')})${date}.`,
    );
    if (complete) say('"deposit-service verify --all" proves that everything is complete and correct.');
  }
  return complete ? 0 : 1;
});

type Choice = {
  readonly folder: string;
  readonly backup: BackupFacts | undefined;
  readonly latest: boolean;
  readonly 'last-complete': boolean;
};

/**
 * Resolves to the events to restore. An incomplete backup may contain more events than the last complete one, but not
 * all their objects.
 */
async function eventsToRestore(
  source: EventLog,
  { folder, backup, latest, 'last-complete': lastComplete }: Choice,
  signal: AbortSignal,
): Promise<number> {
  const events = await numberOfEvents(source, signal);
  if (backup === undefined || latest) return events;
  const later = events - backup.events;
  if (later < 0)
    throw refused(
      'BACKUP_DAMAGED',
      `The log in ${folder} has lost its end: it has ${pluralize(events, 'event')}, but the complete backup of ${backup.finishedAt} had ${backup.events}. Run the backup again; if that is not possible, --latest restores the events and objects that are there.`,
    );
  if (later === 0 || lastComplete) return backup.events;
  throw refused(
    'BACKUP_NOT_COMPLETE',
    `${folder} holds the complete backup of ${backup.finishedAt} (${pluralize(backup.events, 'event')}), and ${pluralize(later, 'later event')} of a backup that was not complete. Run the backup again; if that is not possible, --last-complete restores the state of ${backup.finishedAt}, --latest all events with the objects that are there.`,
  );
}

async function numberOfEvents(log: EventLog, signal: AbortSignal): Promise<number> {
  let events = 0;
  for await (const _event of log.readAll({ signal })) events += 1;
  return events;
}

function noBackup(folder: string): string {
  return `${folder} has no complete backup, or its backup.json is corrupt: run the backup again. If that is not possible, --latest restores the existing events and objects.`;
}

async function* restored(
  events: AsyncIterable<CopyableEvent>,
  binding: CopyableEvent | undefined,
): AsyncGenerator<CopyableEvent> {
  yield* events;
  if (binding) yield binding;
}

async function* first<Item>(count: number, items: AsyncIterable<Item>): AsyncGenerator<Item> {
  if (count === 0) return;
  let left = count;
  for await (const item of items) {
    yield item;
    left -= 1;
    if (left === 0) return;
  }
}
