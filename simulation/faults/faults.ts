import { leaderKilled, partition, quorumLost } from './cluster-faults.ts';
import type { FaultDefinition } from './fault-definition.ts';
import { noise, receiver } from './network-faults.ts';
import { clock, crash, crashPoint, pause, reactorsAway, restart } from './node-faults.ts';
import { garbageCollection, hiddenObjects, shortLists, storeOutage, storePowerCut } from './store-faults.ts';

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
  'store-power-cut': storePowerCut,
  'garbage-collection': garbageCollection,
};

export type FaultName = keyof typeof DEFINITIONS;

/** Every kind of fault. */
export const FAULTS: Readonly<Record<FaultName, FaultDefinition>> = DEFINITIONS;
