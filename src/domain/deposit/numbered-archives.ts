import type { Archive } from './events.ts';

/** An archive has its number within the deposit for good: no other one ever gets it. */
export type NumberedArchive = Archive & { readonly number: number };

/** The archives of a deposit, in the order in which they are laid over one another. */
export type Archives<Kept extends Numbered = NumberedArchive> = {
  readonly archives: readonly Kept[];
  /** How many numbers have been given, from 1. */
  readonly archivesEver: number;
};

type Numbered = { readonly number: number };

export const noArchives: Archives<never> = { archives: [], archivesEver: 0 };

/** One more, on top of the others. */
export function added<Kept extends Numbered>(
  { archives, archivesEver }: Archives<Kept>,
  archive: Omit<Kept, 'number'>,
): Archives<Kept> {
  const number = archivesEver + 1;
  // Nothing but the number is missing.
  return { archives: [...archives, { ...archive, number } as unknown as Kept], archivesEver: number };
}

/** Another one in place of one: it has its number and its place. */
export function replaced<Kept extends Numbered>(
  { archives, archivesEver }: Archives<Kept>,
  number: number,
  archive: Omit<Kept, 'number'>,
): Archives<Kept> {
  const replacing = { ...archive, number } as unknown as Kept; // nothing but the number is missing
  return { archives: archives.map((one) => (one.number === number ? replacing : one)), archivesEver };
}

/** The others; their numbers stay as they are. */
export function removed<Kept extends Numbered>(
  { archives, archivesEver }: Archives<Kept>,
  number: number,
): Archives<Kept> {
  return { archives: archives.filter((one) => one.number !== number), archivesEver };
}

/** None of them is left. */
export function allRemoved<Kept extends Numbered>({ archivesEver }: Archives<Kept>): Archives<Kept> {
  return { archives: [], archivesEver };
}
