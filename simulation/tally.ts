import { CRASH_POINTS } from './faults/crash-points.ts';
import { FAULTS } from './faults/faults.ts';
import type { Counts, HistoryResult } from './history/run-history.ts';
import type { Plan } from './plan/plan.ts';
import type { RunHistory } from './simulators.ts';

type Topic = keyof HistoryResult['counts'];

/** Events that the clients, operators and faults of the simulation lead to. */
const EVENT_TYPES = [
  'ArchiveAdded',
  'ArchivesRemoved',
  'ArchivesReplaced',
  'ChecksRetried',
  'CopyUnreadable',
  'DeliveryFailed',
  'DeliveryTried',
  'DepositCompleted',
  'DepositCreated',
  'DepositDeleted',
  'DepositIdsReserved',
  'DepositLoaded',
  'DepositRejected',
  'DepositVerified',
  'EventHandedBack',
  'EventHandedOut',
  'EventParked',
  'LoadingFailed',
  'LoadingRetried',
  'LoadingStarted',
  'MetadataAdded',
  'MetadataReplaced',
  'MetadataUpdated',
  'NotificationHeld',
  'NotificationsDelivered',
  'ParkedRetried',
  'RequestBegun',
];

const EXPECTED: Readonly<Record<Topic, readonly string[]>> = {
  faults: Object.keys(FAULTS),
  crashPoints: CRASH_POINTS.map(({ call, moment }) => `${call} ${moment}`),
  eventTypes: EVENT_TYPES,
  appends: ['rejected, then replicated', 'rejected, then repeated'],
};

/** Histories after which everything that can happen should have happened. */
export const ENOUGH_HISTORIES = 3000;

export type BadHistory = { readonly plan: Plan; readonly kinds: readonly string[] };

/** Counts over all histories of a run. */
export class Tally {
  histories = 0;
  steps = 0;
  events = 0;
  simulatedMs = 0;
  cpuMs = 0;
  /** Histories with a violation that is not ignored. */
  readonly bad: BadHistory[] = [];
  readonly violations = new Map<string, number[]>();
  readonly counts: Record<Topic, Record<string, number>> = {
    faults: zeros(EXPECTED.faults),
    crashPoints: zeros(EXPECTED.crashPoints),
    eventTypes: zeros(EXPECTED.eventTypes),
    appends: zeros(EXPECTED.appends),
  };
  readonly #ignored: readonly string[];
  readonly isRandom: boolean;

  /**
   * @param ignored kinds of violations that are known: they are counted and do not fail the run
   * @param isRandom everything that can happen is expected to, in enough histories
   */
  constructor(ignored: readonly string[], { isRandom }: { readonly isRandom: boolean }) {
    this.#ignored = ignored;
    this.isRandom = isRandom;
  }

  add({ plan, result, cpuMs }: RunHistory): void {
    const { steps, events, simulatedMs, violations, counts } = result;
    this.histories += 1;
    this.cpuMs += cpuMs;
    this.steps += steps;
    this.events += events;
    this.simulatedMs += simulatedMs;
    for (const topic of Object.keys(counts) as Topic[]) addCounts(this.counts[topic], counts[topic]);
    const kinds = [...new Set(violations.map(({ kind }) => kind))];
    for (const kind of kinds) this.violations.getOrInsertComputed(kind, () => []).push(plan.seed);
    const unknown = kinds.filter((kind) => !this.#ignored.includes(kind));
    if (unknown.length > 0) this.bad.push({ plan, kinds: unknown });
  }

  /** Names what never happened, as soon as enough histories have run for that to be suspicious. */
  get missing(): string[] {
    if (!this.isRandom || this.histories < ENOUGH_HISTORIES) return [];
    return (Object.keys(EXPECTED) as Topic[]).flatMap((topic) =>
      EXPECTED[topic].filter((name) => this.counts[topic][name] === 0),
    );
  }

  get isGood(): boolean {
    return this.bad.length === 0 && this.missing.length === 0;
  }
}

function zeros(names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, 0]));
}

function addCounts(sums: Record<string, number>, counts: Counts): void {
  for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
}
