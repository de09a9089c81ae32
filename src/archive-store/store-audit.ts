import type { ArchiveStore } from './archive-store.ts';

/** The store as an auditor reads it. */
export type StoreAudit = AsyncDisposable &
  Pick<ArchiveStore, 'get' | 'stat' | 'checkOut' | 'list'> & {
    /** Faults in how the engine keeps the objects, besides those that reading them shows. */
    structure(): Promise<readonly { readonly file: string; readonly text: string }[]>;
  };
