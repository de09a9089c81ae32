import type { ThreadPort } from '../../tools/concurrency/thread-port.ts';
import { type Answer, answersTo, answerTo, type Call } from '../../tools/concurrency/worker-client.ts';
import { openTwice } from '../../tools/sqlite/found-twice.ts';
import { assertInPlace, type OpenFiles, openFilesOf } from '../../tools/sqlite/open-files.ts';
import { inTransaction } from '../../tools/sqlite/transaction.ts';
import { changeFile, type FileChange } from './file-change.ts';
import { LastRowRecord } from './last-row.ts';
import { FORMAT, openToWrite } from './object-database.ts';
import { type RowChange, rowChanger } from './row-change.ts';

/** A change that the store requests from its writer thread; the reply says whether there was an object to change. */
export type StoreChange = RowChange | FileChange | { readonly kind: 'probe' | 'close' };

export type StoreWriterData = {
  readonly file: string;
  /** The files of the database, which another thread has opened before: only these are written to. */
  open?: OpenFiles;
};

/**
 * Runs the thread that makes every visible change of the store, under the write lock of its database, which other
 * processes on the same folder acquire too. Rows that arrive during one commit share the next one.
 */
export function runStoreChanges(
  port: ThreadPort<Call<StoreChange>, readonly Answer<boolean>[]>,
  { file, open }: StoreWriterData,
): void {
  if (open) assertInPlace(open); // opening would create a missing file
  const database = openTwice(() => openToWrite(file));
  const openFiles = open ?? openFilesOf(file);
  const changeRow = rowChanger(database);
  const lastRow = new LastRowRecord(file, database);
  /** Whether the last transaction that had something to write failed. Only then does a probe write, which costs a sync. */
  let hasFailed = false;
  port.onMessage((call) => receive([call, ...port.arrived()]));

  function receive(calls: readonly Call<StoreChange>[]): void {
    const rows = calls.filter(isOfRow);
    const others = calls.filter((call) => !isOfRow(call));
    port.send([
      ...answersTo(rows, () => changeRows(rows)),
      // Each with a separate answer: the change of a file persists when others fail.
      ...others.map((call) => answerTo(call, () => changeOther(call.request))),
    ]);
    if (rows.length > 0) recordLastRow();
  }

  /** Also after a change that failed: it may have cleared the record. */
  function recordLastRow(): void {
    try {
      assertInPlace(openFiles);
      lastRow.update();
    } catch {
      // The database that took their place must not get their record.
    }
  }

  /** Changes all rows in one transaction: an error is one of the disk, for all of them. */
  function changeRows(calls: readonly Call<RowChange>[]): boolean[] {
    if (calls.length === 0) return [];
    return writing(() => {
      if (calls.some(({ request }) => request.kind === 'remove-row')) lastRow.forget();
      return calls.map(({ request }) => changeRow(request));
    });
  }

  function changeOther(change: StoreChange): boolean {
    switch (change.kind) {
      case 'place-file':
      case 'touch-file':
      case 'remove-file':
        return inPlace(() => changeFile(change));
      case 'probe':
        return hasFailed ? writing(writeFormat) : inPlace(() => true);
      case 'close':
        database.close();
        return true;
      case 'put-rows':
      case 'remove-row':
        throw new Error('Rows are changed together.');
      default:
        throw new Error(`unknown change ${JSON.stringify(change satisfies never)}`);
    }
  }

  /** Writes the present value again. */
  function writeFormat(): boolean {
    database.exec(`PRAGMA user_version = ${FORMAT}`);
    return true;
  }

  function writing<Result>(work: () => Result): Result {
    hasFailed = true;
    const result = inPlace(work);
    hasFailed = false;
    return result;
  }

  /** Runs a transaction while the files of the database are in their place. */
  function inPlace<Result>(work: () => Result): Result {
    assertInPlace(openFiles);
    const result = inTransaction(database, work);
    assertInPlace(openFiles);
    return result;
  }
}

function isOfRow(call: Call<StoreChange>): call is Call<RowChange> {
  return call.request.kind === 'put-rows' || call.request.kind === 'remove-row';
}
