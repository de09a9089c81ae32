import path from 'node:path';
import { copyStore } from '../src/archive-store/store-copy.ts';
import { readConfig } from '../src/config.ts';
import { lockDataFolder } from '../src/data-folder-lock.ts';
import { counted } from '../src/domain/description.ts';
import { openExistingLog, openExistingStore, openLog, openStore } from '../src/engines.ts';
import { verifyCopy } from '../src/event-log/copy-verification.ts';
import { copyEvents } from '../src/event-log/log-copy.ts';
import { backupPlaces, readBackup } from './backup-folder.ts';
import { restoreKeys } from './backup-keys.ts';
import { only, readArguments, refused, runCommand, say, warn } from './command.ts';
import { ProgressBars } from './progress-bar.ts';
import { stopSignal } from './stop-signal.ts';

const HELP = `Brings a backup into an empty data folder, or into the engines that the settings name.

  npm run restore -- DIR [--json]

The service must not run. Nothing is overwritten: a log that holds anything else than the beginning of the backup is
refused. A restore that was cut off is gone on with. Every event is compared and every hash recomputed at the end;
every object is verified on its way. The keys go to where DEPOSIT_WEBHOOK_KEY_FILE and DEPOSIT_ANCHOR_KEY_FILE have
them, or into the data folder. Views are built when the service starts: what a node still has of the log as it was, it
notices then and builds anew.
Exit codes: 0 done, 1 refused or failed, or something could not be brought, 2 wrong usage.
`;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, { json: { type: 'boolean' } });
  const folder = path.resolve(only(positionals, 'DIR'));
  const backup = readBackup(folder);
  if (!backup)
    throw refused(
      'NO_BACKUP',
      `${folder} holds no backup that was finished, or its backup.json is damaged: run the backup again.`,
    );
  const config = readConfig();
  using _only = lockDataFolder(config.dataDir);
  const signal = stopSignal('Stopped. The same command goes on from there.');
  using bars = new ProgressBars();
  await using source = await openExistingLog(backupPlaces(folder));
  await using target = await openLog(config);
  // A later backup that was cut off may have brought more events, but not yet all objects that they name.
  const total = backup.events;
  await copyEvents(first(total, source.readAll({ signal })), target, {
    engine: config.eventLog.kind,
    progress: (step, events) => bars.at(`events ${step}`, events, total),
    signal,
  });
  await verifyCopy(source.readAll({ signal }), target.readAll({ signal }), {
    total,
    progress: (events) => bars.at('events verified', events, total),
  });
  await using sourceStore = await openExistingStore(backupPlaces(folder));
  await using store = await openStore(config);
  const objects = await copyStore(sourceStore, store, {
    progress: (step, ...counts) => bars.at(`objects ${step}`, ...counts),
    signal,
  });
  const keyProblems = await restoreKeys(folder, config);
  for (const { sha256, reason } of objects.failed) warn(`Not restored: ${sha256}. ${reason}`);
  for (const problem of keyProblems) warn(problem);
  if (values.json) say(JSON.stringify({ events: total, ...objects, keyProblems, backup }));
  else {
    say(
      `Restored ${counted(total, 'event')} and ${counted(objects.objects, 'object')} (${counted(objects.bytes, 'byte')}) of ${backup.finishedAt}.`,
    );
    say('"npm run verify -- --all" proves that everything is there and right.');
  }
  return objects.failed.length + keyProblems.length > 0 ? 1 : 0;
});

async function* first<Item>(count: number, items: AsyncIterable<Item>): AsyncGenerator<Item> {
  if (count === 0) return;
  let left = count;
  for await (const item of items) {
    yield item;
    left -= 1;
    if (left === 0) return;
  }
}
