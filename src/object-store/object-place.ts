import { isSha256 } from '../tools/cryptography/is-sha256.ts';

/**
 * Returns where an object is below its store. A log that others can write may name anything, such as a path that leads
 * out of the store: what is no digest gets a place that no object has.
 */
export function objectPlace(sha256: string): string {
  const name = isSha256(sha256) ? sha256 : 'no-digest';
  return `v1/sha256/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`;
}
