import type { Composition } from '../plan/plan.ts';
import { leaderKilled, partition, quorumLost } from './cluster-faults.ts';
import { diskCrashPoint, failedRead, fullDisk, powerCut, refusedWrites } from './disk-faults.ts';
import type { FaultDefinition } from './fault-definition.ts';
import { noise, receiver } from './network-faults.ts';
import { clock, crash, crashPoint, pause, reactorsAway, restart } from './node-faults.ts';
import {
  garbageCollection,
  hiddenObjects,
  lostUploads,
  shortLists,
  storeOutage,
  storePowerCut,
} from './store-faults.ts';

const DEFINITIONS = {
  crash,
  'crash-point': crashPoint,
  'reactors-away': reactorsAway,
  restart,
  pause,
  clock,
  'leader-killed': leaderKilled,
  partition,
  'quorum-lost': quorumLost,
  noise,
  receiver,
  'store-outage': storeOutage,
  'hidden-objects': hiddenObjects,
  'short-lists': shortLists,
  'lost-uploads': lostUploads,
  'store-power-cut': storePowerCut,
  'garbage-collection': garbageCollection,
  'power-cut': powerCut,
  'disk-crash-point': diskCrashPoint,
  'full-disk': fullDisk,
  'refused-writes': refusedWrites,
  'failed-read': failedRead,
};

export type FaultName = keyof typeof DEFINITIONS;

/** Faults of embedded nodes alone, and those that they have in common with the nodes of clusters. */
const OF_DISKS: readonly FaultName[] = [
  'power-cut',
  'disk-crash-point',
  'full-disk',
  'refused-writes',
  'failed-read',
];
const OF_BOTH: readonly FaultName[] = ['crash', 'restart', 'pause', 'clock', 'receiver'];

/** Every kind of fault. */
export const FAULTS: Readonly<Record<FaultName, FaultDefinition>> = DEFINITIONS;

/** Returns the kinds of faults that histories of a composition have. */
export function faultNames(composition: Composition): readonly FaultName[] {
  if (composition === 'embedded') return [...OF_BOTH, ...OF_DISKS];
  return (Object.keys(DEFINITIONS) as FaultName[]).filter((name) => !OF_DISKS.includes(name));
}
