import path from 'node:path';
import { workers } from '../tools/workers.ts';

/** What a SQLite file of ours looks like when nobody has changed it. */
export type ExpectedSqliteFile = {
  /** SQL that makes its tables and indexes. */
  readonly schema: string;
  readonly pragmas: Readonly<Record<string, string | number>>;
  /** Queries that find nothing; what one finds is said with its text. */
  readonly nothing: readonly { readonly sql: string; readonly text: string }[];
};

export type IntegrityRequest = { readonly file: string; readonly expected: ExpectedSqliteFile };

/**
 * Has SQLite look at every page of the file in a thread of its own: trees, indexes, free pages, types, constraints;
 * then compares schema and settings. Writes nothing; a service may run beside it.
 * @returns a sentence for each fault, none when all is well.
 */
export async function faultsOfSqliteFile(
  file: string,
  expected: ExpectedSqliteFile,
): Promise<readonly string[]> {
  const entry = new URL(`./integrity-worker${path.extname(import.meta.filename)}`, import.meta.url);
  const workerData: IntegrityRequest = { file, expected };
  const worker = workers.start(entry, { name: 'sqlite-integrity', workerData });
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', (code) => reject(new Error(`The integrity check of ${file} ended with code ${code}.`)));
  return promise;
}
