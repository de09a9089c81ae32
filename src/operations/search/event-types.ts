import { aggregates } from '../../domain/aggregates.ts';

/** Types of events that belong to no aggregate. */
const OTHERS = [
  'AnchorMade',
  'ConfirmationAsked',
  'DepositIdsReserved',
  'EventHandedBack',
  'EventHandedOut',
  'NodeConfirmed',
  'NodeForgotten',
  'NodeStarted',
  'NodeStopped',
  'RequestBegun',
  'StoreBound',
  'ViewSnapshotStored',
];

const known = new Set([...aggregates.flatMap(({ codec }) => [...codec.versions.keys()]), ...OTHERS]);

/** Returns whether this release appends events of the type. A log may also have types of other releases. */
export function isKnownType(type: string): boolean {
  return known.has(type);
}
