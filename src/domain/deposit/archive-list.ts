import type { Archive } from './events.ts';

/** An archive and its permanent number within the deposit; a number is never given to another archive. */
export type NumberedArchive = Archive & { readonly number: number };

/** The archives of a deposit, in the order in which they are merged. */
export type Archives<Kept extends Numbered = NumberedArchive> = {
  readonly archives: readonly Kept[];
  /** How many archives were ever added, which is also the highest number given. Numbers start at 1. */
  readonly archivesEver: number;
};

type Numbered = { readonly number: number };

export const noArchives: Archives<never> = { archives: [], archivesEver: 0 };

/** Appends an archive, which is merged on top of the others. */
export function withArchive<Kept extends Numbered>(
  { archives, archivesEver }: Archives<Kept>,
  archive: Omit<Kept, 'number'>,
): Archives<Kept> {
  const number = archivesEver + 1;
  // Nothing but the number is missing.
  return { archives: [...archives, { ...archive, number } as unknown as Kept], archivesEver: number };
}

/** Replaces the archive with this number; the new archive gets the number and the position of the old one. */
export function withArchiveReplaced<Kept extends Numbered>(
  { archives, archivesEver }: Archives<Kept>,
  number: number,
  archive: Omit<Kept, 'number'>,
): Archives<Kept> {
  const replacing = { ...archive, number } as unknown as Kept; // nothing but the number is missing
  return { archives: archives.map((one) => (one.number === number ? replacing : one)), archivesEver };
}

/** Removes the archive with this number; the others keep their numbers. */
export function withoutArchive<Kept extends Numbered>(
  { archives, archivesEver }: Archives<Kept>,
  number: number,
): Archives<Kept> {
  return { archives: archives.filter((one) => one.number !== number), archivesEver };
}

/** Removes all archives; their numbers are not given again. */
export function withoutArchives<Kept extends Numbered>({ archivesEver }: Archives<Kept>): Archives<Kept> {
  return { archives: [], archivesEver };
}
