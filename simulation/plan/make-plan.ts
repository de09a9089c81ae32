import { FAULTS, type FaultName, faultNames } from '../faults/faults.ts';
import { SeededRandom } from '../world/seeded-random.ts';
import { makeDeposit } from './make-deposit.ts';
import {
  type Composition,
  commandsOf,
  NODES,
  type Plan,
  type PlannedDeposit,
  type PlannedFault,
} from './plan.ts';

/** The least that every history has. */
export const LEAST = { commands: 20, deposits: 5, faults: 5, faultKinds: 3 };

/** By the remainder of the seed. */
const COMPOSITIONS: readonly Composition[] = ['embedded', 'cluster', 'small-cluster', 'cluster'];
const [FIRST_FAULT_MS, LAST_FAULT_MS] = [1000, 30_000];
const FIRST_REQUEST_MS = 700;
/** The sweep in histories that have one, and in those that have none. */
const [SWEPT_MS, NOT_SWEPT_MS] = [30_000, 86_400_000];
/** By how much the only clock is set back at most. */
const LARGEST_SETBACK_MS = 10_000;
/** When, after its beginning, a search for orphans comes to their removal. */
const COLLECTION_MS = [10, 35] as const;
/** Around a fault, where most requests are placed. */
const NEAR_FAULT_MS = [-1500, 4500] as const;

/** Makes the plan of a seed. Each history has some of the kinds of faults only, so that none hides another. */
export function makePlan(seed: number): Plan {
  const random = new SeededRandom(seed, 'plan');
  const composition = COMPOSITIONS[seed % COMPOSITIONS.length] as Composition;
  const faults = makeFaults(random, composition);
  const deposits: PlannedDeposit[] = [];
  while (deposits.length < LEAST.deposits || commandsOf({ deposits }) < LEAST.commands) {
    const at = placeOf(random, faults);
    const burst = random.chance(0.06) ? 2 + random.int(12) : 1;
    for (let index = 0; index < burst; index++)
      deposits.push(makeDeposit(random, `d${deposits.length + 1}`, at + random.between(0, 30), burst > 1));
  }
  deposits.push(...duringCollections(random, faults));
  return {
    seed,
    composition,
    stuckAfter: random.chance(0.4) ? SWEPT_MS : NOT_SWEPT_MS,
    faults,
    deposits,
  };
}

function makeFaults(random: SeededRandom, composition: Composition): PlannedFault[] {
  const names = faultNames(composition);
  const kinds = random.shuffled(names).slice(0, LEAST.faultKinds + random.int(3));
  const count = LEAST.faults + random.int(4);
  return Array.from({ length: count }, (_, index) => {
    const kind = index < kinds.length ? (kinds[index] as FaultName) : random.pick(kinds);
    return {
      kind,
      at: random.between(FIRST_FAULT_MS, LAST_FAULT_MS),
      parameters: ofHosts(FAULTS[kind].draw(random), composition),
    };
  });
}

/** Faults are drawn for four hosts. Where there is one only, no other delivers what waits until its clock is again where it was. */
function ofHosts(
  parameters: PlannedFault['parameters'],
  composition: Composition,
): PlannedFault['parameters'] {
  const { host, by } = parameters;
  return {
    ...parameters,
    ...(typeof host === 'number' && { host: host % NODES[composition].length }),
    ...(typeof by === 'number' && composition === 'embedded' && { by: Math.max(by, -LARGEST_SETBACK_MS) }),
  };
}

/** Deposits of bytes that an operator is about to remove: each is stored within moments of a search for orphans. */
function duringCollections(random: SeededRandom, faults: readonly PlannedFault[]): PlannedDeposit[] {
  return faults
    .filter(({ kind }) => kind === 'garbage-collection')
    .map(({ at }, index) => ({
      ...makeDeposit(random, `g${index + 1}`, at + random.between(...COLLECTION_MS), true),
      isOrphan: true,
    }));
}

function placeOf(random: SeededRandom, faults: readonly PlannedFault[]): number {
  if (!random.chance(0.6)) return random.between(FIRST_REQUEST_MS, LAST_FAULT_MS);
  const [earliest, latest] = NEAR_FAULT_MS;
  return Math.max(FIRST_REQUEST_MS, random.pick(faults).at + random.between(earliest, latest));
}
