/**
 * The thread that makes every change of what the store shows, under the write lock of its database, which
 * other processes on the same folder take too. Rows that come during one commit share the next.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { inTransaction } from '../../sqlite/transaction.ts';
import { clock } from '../../tools/clock.ts';
import { type Answer, type Call, faultOf } from '../worker-calls.ts';
import { changeFile, type FileChange } from './file-change.ts';
import { LastRowRecord } from './last-row.ts';
import { openToWrite } from './object-database.ts';
import { type RowChange, rowChanger } from './row-change.ts';

export type StoreChange = RowChange | FileChange | { readonly kind: 'probe' | 'close' };

const database = openToWrite(String(workerData));
const changeRow = rowChanger(database);
const lastRow = new LastRowRecord(String(workerData), database);
let waiting: Call<StoreChange>[] = [];

parentPort?.on('message', (call: Call<StoreChange>) => {
  if (waiting.push(call) === 1) clock.setImmediate(changeAll);
});

function changeAll(): void {
  const calls = waiting;
  waiting = [];
  const rows = calls.filter(isOfRow);
  const answers = [...together(rows), ...calls.filter((call) => !isOfRow(call)).map(alone)];
  parentPort?.postMessage(answers);
  if (rows.length > 0) lastRow.update();
}

function isOfRow(call: Call<StoreChange>): call is Call<RowChange> {
  return call.request.kind === 'put-rows' || call.request.kind === 'remove-row';
}

/** All rows in one transaction: what fails here is the disk, for all of them. */
function together(calls: Call<RowChange>[]): Answer<boolean>[] {
  if (calls.length === 0) return [];
  try {
    return inTransaction(database, () => {
      if (calls.some(({ request }) => request.kind === 'remove-row')) lastRow.forget();
      return calls.map(({ call, request }) => ({ call, reply: changeRow(request) }));
    });
  } catch (error) {
    return calls.map(({ call }) => ({ call, fault: faultOf(error) }));
  }
}

/** A file keeps its change whatever happens to others, so it is answered by itself. */
function alone({ call, request }: Call<StoreChange>): Answer<boolean> {
  try {
    return { call, reply: changeOther(request) };
  } catch (error) {
    return { call, fault: faultOf(error) };
  }
}

function changeOther(change: StoreChange): boolean {
  switch (change.kind) {
    case 'place-file':
    case 'touch-file':
    case 'remove-file':
      return inTransaction(database, () => changeFile(change));
    case 'probe':
      return inTransaction(database, () => true);
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
