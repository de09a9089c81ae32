import type { ObjectStore } from './object-store.ts';

/** The store as an audit reads it. */
export type StoreAudit = AsyncDisposable &
  Pick<ObjectStore, 'get' | 'stat' | 'materialize' | 'list'> & {
    /** Resolves to faults of the storage that reading the objects does not show. */
    structure(): Promise<readonly { readonly file: string; readonly text: string }[]>;
  };
