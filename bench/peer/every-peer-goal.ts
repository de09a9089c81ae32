import type { Goal } from '../frame/goal.ts';
import { peerArchives } from './peer-archives.ts';
import { peerRequests } from './peer-requests.ts';

/** Returns the goals that compare the service with the deposit server of Software Heritage, installed into the folder. */
export function everyPeerGoal(cache: string): readonly Goal[] {
  return [peerRequests(cache), peerArchives(cache)];
}
