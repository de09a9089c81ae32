import type { DatabaseSync } from 'node:sqlite';
import type { ThreadPort } from '../../tools/concurrency/thread-port.ts';
import { type Answer, answersTo, answerTo, type Call } from '../../tools/concurrency/worker-client.ts';
import { openTwice } from '../../tools/sqlite/found-twice.ts';
import { assertInPlace, type OpenFiles, openFilesOf } from '../../tools/sqlite/open-files.ts';
import { inTransaction } from '../../tools/sqlite/transaction.ts';
import { changeFile } from './file-change.ts';
import { LastRowRecord } from './last-row.ts';
import { openToWrite } from './object-database.ts';
import { type RowChange, rowChanger } from './row-change.ts';
import type { StoreChange, StoreWriterData } from './store-writer-messages.ts';

/**
 * The program of the thread that makes every visible change of the store, under the write lock of its database, which
 * other processes on the same folder acquire too. Rows that arrive during one commit share the next one.
 */
export class StoreChanges {
  readonly #port: ThreadPort<Call<StoreChange>, readonly Answer<boolean>[]>;
  readonly #database: DatabaseSync;
  readonly #files: OpenFiles;
  readonly #changeRow: (change: RowChange) => boolean;
  readonly #lastRow: LastRowRecord;

  constructor(
    port: ThreadPort<Call<StoreChange>, readonly Answer<boolean>[]>,
    { file, open }: StoreWriterData,
  ) {
    this.#port = port;
    if (open) assertInPlace(open); // opening would create a missing file
    this.#database = openTwice(() => openToWrite(file));
    this.#files = open ?? openFilesOf(file);
    this.#changeRow = rowChanger(this.#database);
    this.#lastRow = new LastRowRecord(file, this.#database);
  }

  run(): void {
    this.#port.onMessage((call) => this.#receive([call, ...this.#port.arrived()]));
  }

  #receive(calls: readonly Call<StoreChange>[]): void {
    const rows = calls.filter(isOfRow);
    const others = calls.filter((call) => !isOfRow(call));
    this.#port.send([
      ...answersTo(rows, () => this.#changeRows(rows)),
      // Each with a separate answer: the change of a file persists when others fail.
      ...others.map((call) => answerTo(call, () => this.#changeOther(call.request))),
    ]);
    if (rows.length > 0) this.#lastRow.update();
  }

  /** Changes all rows in one transaction: an error is one of the disk, for all of them. */
  #changeRows(calls: readonly Call<RowChange>[]): boolean[] {
    if (calls.length === 0) return [];
    return this.#inTransaction(() => {
      if (calls.some(({ request }) => request.kind === 'remove-row')) this.#lastRow.forget();
      return calls.map(({ request }) => this.#changeRow(request));
    });
  }

  #inTransaction<Result>(work: () => Result): Result {
    assertInPlace(this.#files);
    const result = inTransaction(this.#database, work);
    assertInPlace(this.#files);
    return result;
  }

  #changeOther(change: StoreChange): boolean {
    switch (change.kind) {
      case 'place-file':
      case 'touch-file':
      case 'remove-file':
        return this.#inTransaction(() => changeFile(change));
      case 'probe':
        return this.#inTransaction(() => true);
      case 'close':
        this.#database.close();
        return true;
      case 'put-rows':
      case 'remove-row':
        throw new Error('Rows are changed together.');
      default:
        throw new Error(`unknown change ${JSON.stringify(change satisfies never)}`);
    }
  }
}

function isOfRow(call: Call<StoreChange>): call is Call<RowChange> {
  return call.request.kind === 'put-rows' || call.request.kind === 'remove-row';
}
