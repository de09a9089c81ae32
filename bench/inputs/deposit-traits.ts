import { seeded } from '../../testing/processes/seeded-random.ts';

/** The properties in which the deposits of a log that is measured differ. */
export type DepositTraits = {
  readonly client: string;
  readonly collection: string;
  readonly title: string;
  readonly authors: readonly string[];
  readonly outcome: 'done' | 'rejected' | 'failed' | 'partial';
  /** Code of the reason of a rejection. */
  readonly reason: string;
};

/** Returns the traits of deposits that are all done, of one client in one collection. */
export function uniformTraits(depositId: number): DepositTraits {
  return {
    client: 'bench',
    collection: 'software',
    title: `Software ${depositId}`,
    authors: ['Alice', 'Bob'],
    outcome: 'done',
    reason: '',
  };
}

/** Numbers of the clients and collections of varied deposits. The first ones have most of the deposits. */
const [CLIENTS, COLLECTIONS] = [40, 8];
/** Words of titles: the first ones are in most titles, the last one is in a few. */
const WORDS = [
  'software',
  'library',
  'analysis',
  'simulation',
  'toolkit',
  'protocol',
  'compiler',
  'astronomy',
  'genome',
  'parser',
  'lattice',
  'quaternion',
];

/** Returns traits as deposits of several institutions have them: few large clients, many small ones, some rejected. */
export function variedTraits(depositId: number): DepositTraits {
  const chance = seeded(depositId * 7919);
  const client = skewed(chance(), CLIENTS);
  const words = [0, 1, 2].map(() => WORDS[skewed(chance(), WORDS.length)] as string);
  return {
    client: client === 0 ? 'bench' : `client-${client}`,
    collection: collectionOf(skewed(chance(), COLLECTIONS)),
    title: `${[...new Set(words)].join(' ')} ${depositId}`,
    authors: [`Author ${skewed(chance(), 500)}`, `Author ${Math.floor(chance() * 5000)}`],
    outcome: outcomeOf(chance()),
    reason: chance() < 0.001 ? 'NO_ARCHIVE' : 'URL_OUTSIDE_DOMAIN',
  };
}

/** Returns the collections of all varied deposits. */
export function variedCollections(): readonly string[] {
  return Array.from({ length: COLLECTIONS }, (_, index) => collectionOf(index));
}

function collectionOf(index: number): string {
  return index === 0 ? 'software' : `collection-${index}`;
}

function outcomeOf(chance: number): DepositTraits['outcome'] {
  if (chance < 0.0005) return 'failed';
  if (chance < 0.01) return 'partial';
  return chance < 0.06 ? 'rejected' : 'done';
}

/** Returns a number below `count`; half of all chances give 0, half of the rest 1, and so on. */
function skewed(chance: number, count: number): number {
  return Math.min(count - 1, Math.floor(-Math.log2(1 - chance)));
}
