import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../src/config/config.ts';
import { readConfig } from '../src/config/read-config.ts';
import { objectsReferenced } from '../src/deposits/objects-in-log.ts';
import { pluralize } from '../src/domain/description.ts';
import {
  assertApart,
  backupPlaces,
  finishBackup,
  keepBackupPrivate,
  readBackup,
} from '../src/operations/backup/backup-folder.ts';
import { backUpKeys } from '../src/operations/backup/backup-keys.ts';
import { isComplete, reportCopied, shortcomings } from '../src/operations/backup/copied-objects.ts';
import { onlyPositional, readArguments } from '../src/operations/command/arguments.ts';
import { refused, runCommand, stopSignal } from '../src/operations/command/command.ts';
import { isInside } from '../src/operations/command/is-inside.ts';
import { jsonLine, say, warn } from '../src/operations/command/output.ts';
import { openServiceLog, openServiceStoreToRead } from '../src/operations/command/service-engines.ts';
import { onTarget } from '../src/operations/copy/copy-target.ts';
import { firstAlteredEvent } from '../src/operations/copy/copy-verification.ts';
import { copyLog, LogsDiffer } from '../src/operations/copy/log-copy.ts';
import { copyStore } from '../src/operations/copy/store-copy.ts';
import { recordSuccess } from '../src/service/backends/last-success.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { openStore } from '../src/service/backends/open-store.ts';
import { assertSameStore } from '../src/service/backends/store-binding.ts';
import { lockFile } from '../src/tools/files/lock-file.ts';
import { makeDirectory } from '../src/tools/files/make-directory.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';
import { snapshotObjects } from '../src/views/snapshots/snapshot-records.ts';

const HELP = `Copies the event log, the objects and the keys into a folder, from any engine, while the service runs.

Usage: deposit-service backup DIR [--init] [--verify] [--json]

--init    begin a backup in a folder that has none; the folder is created if it does not exist. Without it such a folder
          is refused, since it may be that of a disk that is not mounted
--verify  read every object of the backup again and replace corrupt ones
--json    print the result as JSON

The log is copied first, then the objects, so the backup has every object that its events name. Later runs copy only what
is new. An interrupted backup is resumed. Existing files are compared with the log, never overwritten. A backup is complete
when it has every object that its events name, and every event has its hash. Missing and corrupt objects are named, and the
others are copied.
The folder contains the keys, also those of DEPOSIT_WEBHOOK_KEY_FILE and DEPOSIT_ANCHOR_KEY_FILE. Protect it like the data
folder. Only you can read its files.

Example: deposit-service backup /srv/backup --init

Exit codes: 0 complete, 1 refused, failed or not complete, or the store was not ready before or after its objects were
listed, 2 wrong usage.
`;

/** Later than every file, so that files of any age are removed. */
const LAST_DATE = new Date(8.64e15);

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    init: { type: 'boolean' },
    verify: { type: 'boolean' },
    json: { type: 'boolean' },
  });
  const folder = path.resolve(onlyPositional(positionals, 'DIR'));
  const config = readConfig();
  assertElsewhere(folder, config);
  assertApart(folder, config);
  await using log = await openServiceLog(config, { readOnly: true });
  await using store = await openServiceStoreToRead(config);
  await assertSameStore(log, store);
  const places = backupPlaces(folder);
  if (!values.init) assertBackup(folder);
  makeDirectory(folder);
  keepBackupPrivate(places);
  using _only = lockFile(path.join(folder, 'backup.lock'), `Another backup into ${folder} is running.`);
  const before = readBackup(folder);
  const signal = stopSignal('Stopped. Run the same command again to resume.');
  using bars = new ProgressBars();
  await using copiedLog = await openLog(places);
  const events = await copyLog(log, copiedLog, {
    engine: 'sqlite',
    progress: (step, ...counts) => bars.at(`events ${step}`, ...counts),
    signal,
  }).catch((error: unknown) => refuseOtherHistory(error, folder));
  const total = events.found + events.copied;
  const altered = await firstAlteredEvent(copiedLog.readAll({ signal }), (read) =>
    bars.at('events verified', read, total),
  );
  const into = `The backup folder ${folder}`;
  await using copiedStore = await onTarget(openStore(places), into);
  await copiedStore.sweepIncoming(LAST_DATE); // left by an interrupted backup; no other backup is running
  const objects = await copyStore(store, copiedStore, {
    into,
    named: objectsReferenced(copiedLog, { signal }),
    leftOut: await snapshotObjects(copiedLog),
    verify: values.verify ?? false,
    progress: (step, ...counts) => bars.at(`objects ${step}`, ...counts),
    signal,
  });
  bars.end();
  const keys = await backUpKeys(config, folder);
  const complete = isComplete(objects) && altered === undefined;
  if (complete) {
    await finishBackup(folder, { events: total, objects: objects.objects });
    const problem = await recordSuccess(config.dataDir, 'backup');
    if (problem !== undefined) warn(problem);
  }
  const facts = {
    folder,
    events: total,
    newEvents: events.copied,
    alteredEvent: altered ?? null,
    complete,
    ...objects,
    keys,
    since: before?.finishedAt ?? null,
  };
  if (values.json) say(jsonLine(facts));
  else {
    if (!complete) {
      const missing = [...(altered === undefined ? [] : ['an event was altered']), ...shortcomings(objects)];
      say(`The backup is not complete: ${missing.join('; ')}.`);
    }
    const news = `${pluralize(events.copied, 'event')} and ${pluralize(objects.copied, 'object')} are new`;
    say(
      `The backup holds ${pluralize(total, 'event')}, ${pluralize(objects.objects, 'object')} (${pluralize(objects.bytes, 'byte')}) and ${pluralize(keys.length, 'key')}; ${news}.`,
    );
  }
  if (altered !== undefined)
    warn(
      `${altered} "deposit-service restore" refuses such a log, so the backup is not complete. Run "deposit-service verify --all".`,
    );
  const code = reportCopied(objects);
  return complete ? code : 1;
});

/** Explains a backup that the log does not continue: the advice of other copies, an empty target, could cost its history. */
function refuseOtherHistory(error: unknown, folder: string): never {
  if (!(error instanceof LogsDiffer)) throw error;
  throw refused(
    'OTHER_HISTORY',
    `${folder} is a backup of another history than the log has now, so nothing was added to it. ${error.difference} Was the log restored to an older state, or an event altered? Retain this backup, and run "deposit-service verify --all". If the log is right, begin a new backup in another folder with --init.`,
  );
}

/** Refuses a folder without a backup, such as one whose disk is not mounted. */
function assertBackup(folder: string): void {
  if (existsSync(path.join(folder, 'event-log.sqlite'))) return;
  throw refused('NO_BACKUP', `${folder} has no backup yet. If it is the right folder, add --init.`);
}

function assertElsewhere(folder: string, { dataDir }: Config): void {
  if (isInside(dataDir, folder) || existsSync(path.join(folder, 'service.lock'))) {
    throw refused('BACKUP_IN_DATA_FOLDER', `${folder} is a data folder or inside one: give another folder.`);
  }
}
