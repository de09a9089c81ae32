import type { Change } from '../../domain/deposit/commands.ts';
import type { Accepted } from './deposit-request.ts';

/** Describes what one kind of write needs, and what it means. */
export type WriteRule = {
  /** Whether the write is the final one of its deposit if `In-Progress` is absent. */
  readonly isFinalWithoutHeader: boolean;
  /** Status that the deposit must have; `any` if the write changes nothing otherwise. */
  readonly status: 'partial' | 'done' | 'any';
  readonly change?: Extract<Change['kind'], 'add-content' | 'replace-content' | 'replace-archive'>;
  /** Accepted bodies, by the media types of archives that the collection accepts; without it, there is no body. */
  readonly accepted?: (archives: readonly string[]) => Accepted;
  /** Deposit that its entry is about, if that is new or done. */
  readonly entryOf?: 'new' | 'done';
};

const archiveAndEntry = (archives: readonly string[]): Accepted => ({ archives, entry: true });

const OF_ARCHIVES = {
  isFinalWithoutHeader: false,
  status: 'partial',
  accepted: (archives: readonly string[]): Accepted => ({ archives, entry: false }),
} as const;

/** The writes, by IRI. On Edit- and COL-IRI a write is final unless it says otherwise; clients add archive after archive. */
export const WRITES = {
  create: { isFinalWithoutHeader: true, status: 'any', accepted: archiveAndEntry, entryOf: 'new' },
  // An archive may be added here without an entry (SWORD 2.0, 6.7.2): client libraries use this IRI, not the EM-IRI.
  addToEdit: {
    isFinalWithoutHeader: true,
    status: 'partial',
    change: 'add-content',
    accepted: (archives) => ({ ...archiveAndEntry(archives), untypedEntry: true }),
  },
  replaceOnEdit: {
    isFinalWithoutHeader: true,
    status: 'partial',
    change: 'replace-content',
    accepted: (archives) => ({
      archives: [],
      entry: true,
      untypedEntry: true,
      inMultipart: archiveAndEntry(archives),
    }),
  },
  addToMedia: { ...OF_ARCHIVES, change: 'add-content' },
  replaceMedia: { ...OF_ARCHIVES, change: 'replace-content' },
  replaceFile: { ...OF_ARCHIVES, change: 'replace-archive' },
  updateMetadata: {
    isFinalWithoutHeader: true,
    status: 'done',
    accepted: () => ({ archives: [], entry: true, untypedEntry: true }),
    entryOf: 'done',
  },
  complete: { isFinalWithoutHeader: true, status: 'any' },
  remove: { isFinalWithoutHeader: false, status: 'partial' },
} as const satisfies Readonly<Record<string, WriteRule>>;
