import type { ViewSchema } from '../projection.ts';
import type { ViewChanges } from './change-writer.ts';

/** A job for the worker thread that writes a view file. */
export type ViewJob =
  | { readonly kind: 'write'; readonly file: string; readonly changes: ViewChanges }
  | { readonly kind: 'add-lookups'; readonly file: string; readonly schemas: readonly ViewSchema[] }
  | { readonly kind: 'close' };

/** Names the use of a file that is written. */
export type ViewFileUse = 'served' | 'built';
