import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { isOfRoom } from '../../sqlite/codes.ts';
import { SqliteAppends } from './appends.ts';
import type { AppendAnswer, AppendRequest, FromWriter, ToWriter, WriterData } from './writer-messages.ts';

/*
 * The writer thread: the only place of this process that writes to the log, and where its syncs block.
 * Whatever came in while one transaction was synced goes together into the next.
 */
if (!parentPort) throw new Error('The writer of the event log runs as a worker thread only.');
const port = parentPort;
const { file } = workerData as WriterData;

/** Bounds how long the first appends of a burst wait for the last ones. */
const LARGEST_BATCH = 1_000;

let open: SqliteAppends | undefined;

try {
  connection();
  answer({ kind: 'opened' });
} catch (error) {
  answer({ kind: 'unopened', reason: reasonOf(error) });
}

port.on('message', (message: ToWriter) => {
  const messages = [message, ...waiting()];
  const appends = messages.flatMap((each) => (each.kind === 'appends' ? each.appends : []));
  for (let start = 0; start < appends.length; start += LARGEST_BATCH) {
    write(appends.slice(start, start + LARGEST_BATCH));
  }
  if (messages.some(({ kind }) => kind === 'probe')) probe();
  if (messages.some(({ kind }) => kind === 'close')) close();
});

function waiting(): ToWriter[] {
  const messages: ToWriter[] = [];
  while (true) {
    const next = receiveMessageOnPort(port);
    if (!next) return messages;
    messages.push(next.message);
  }
}

function write(appends: AppendRequest[]): void {
  const answers = committed(appends);
  if (!answers) return;
  answer({ kind: 'answered', answers });
  if (answers.some(({ kind }) => kind === 'appended')) open?.recordHead();
}

function committed(appends: AppendRequest[]): AppendAnswer[] | undefined {
  try {
    return connection().commit(appends);
  } catch (error) {
    answer({ kind: 'failed', count: appends.length, reason: reasonOf(error) });
    abandonConnection();
    return undefined;
  }
}

function probe(): void {
  try {
    connection().probe();
    answer({ kind: 'probed', reason: null });
  } catch (error) {
    answer({ kind: 'probed', reason: reasonOf(error) });
    abandonConnection();
  }
}

function connection(): SqliteAppends {
  open ??= new SqliteAppends(file);
  return open;
}

/** After a fault nothing this connection remembers is trusted; the next batch opens another. */
function abandonConnection(): void {
  const failed = open;
  open = undefined;
  try {
    failed?.close();
  } catch {
    // It has already told its reason.
  }
}

function close(): void {
  try {
    open?.checkpoint();
  } catch {
    // The WAL stays and is read at the next start.
  }
  abandonConnection();
  port.close();
}

function answer(message: FromWriter): void {
  port.postMessage(message);
}

function reasonOf(error: unknown): string {
  if (isOfRoom(error)) return 'there is no room on its disk';
  return error instanceof Error ? error.message : String(error);
}
