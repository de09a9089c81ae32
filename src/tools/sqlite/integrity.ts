import { resultOfThread } from '../workers.ts';

/** The expected contents of an unchanged SQLite file of this service. */
export type ExpectedSqliteFile = {
  /** SQL that creates its tables and indexes. */
  readonly schema: string;
  readonly pragmas: Readonly<Record<string, string | number>>;
  /** Queries that must return no row; each returned row is reported with the text. */
  readonly nothing: readonly { readonly sql: string; readonly text: string }[];
};

export type IntegrityRequest = { readonly file: string; readonly expected: ExpectedSqliteFile };

/**
 * Has SQLite verify every page of the file in a worker thread: trees, indexes, free pages, types, constraints. Then
 * compares schema and settings. Read-only; a service may run on the file meanwhile.
 * @returns a sentence for each fault; empty without faults.
 */
export function faultsOfSqliteFile(file: string, expected: ExpectedSqliteFile): Promise<readonly string[]> {
  const entry = new URL('./integrity-worker.ts', import.meta.url);
  const workerData: IntegrityRequest = { file, expected };
  return resultOfThread(entry, { name: 'sqlite-integrity', workerData });
}
