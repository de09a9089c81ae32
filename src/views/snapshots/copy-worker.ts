import { backup } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { threadPort } from '../../tools/concurrency/thread-port.ts';
import { files } from '../../tools/files.ts';
import { openSqliteToRead } from '../../tools/sqlite/reading.ts';
import { ViewFile } from '../store/view-file.ts';
import { removeViewFile } from '../store/view-folder.ts';
import type { CopiedViews, CopyOrder } from './packed-copy.ts';
import { pack } from './packing.ts';

/*
 * Entry point of a worker thread: copies the views in use as they are at one moment, while the service writes them, and
 * packs the copy.
 */
const BUSY_MS = 5000;
/** Pages that are copied at a time: the end of the thread waits no longer than for these. */
const PAGES = 1000;

const { views, folder, packed, key } = workerData as CopyOrder;
const copy = `${folder}/copy.sqlite`;
await copyViews();
assertIntact();
const copied = describe();
await pack(copy, packed, key);
removeViewFile(copy);
threadPort<never, CopiedViews>().send(copied);

/** A read transaction holds the moment; without it the copy would begin again with each write of the service. */
async function copyViews(): Promise<void> {
  const database = openSqliteToRead(views, BUSY_MS);
  try {
    database.exec('BEGIN');
    database.prepare('SELECT last_seen FROM about').get();
    await backup(database, copy, { rate: PAGES });
  } finally {
    database.close();
  }
  await files.chmod(copy, 0o600);
}

/** @throws the views are damaged, which must not reach other nodes */
function assertIntact(): void {
  using database = openSqliteToRead(copy, BUSY_MS);
  const found = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (found !== 'ok') throw new Error(`The views in ${views} are damaged: ${String(found)}.`);
}

function describe(): CopiedViews {
  using file = new ViewFile(copy);
  return { lastSeen: file.storedLastSeen(), versions: Object.fromEntries(file.versions()) };
}
