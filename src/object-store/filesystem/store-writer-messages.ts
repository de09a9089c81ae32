import type { OpenFiles } from '../../tools/sqlite/open-files.ts';
import type { RowChange } from './row-change.ts';

/** A change that the store requests from its writer thread; the reply says whether there was an object to change. */
export type StoreChange = RowChange | FileChange | { readonly kind: 'probe' | 'close' };

export type FileChange =
  | { readonly kind: 'place-file'; readonly from: string; readonly file: string }
  | { readonly kind: 'touch-file'; readonly file: string }
  | { readonly kind: 'remove-file'; readonly file: string; readonly storedBefore: number };

export type StoreWriterData = {
  readonly file: string;
  /** The files of the database, which another thread has opened before: only these are written to. */
  open?: OpenFiles;
};
