import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The fields of the output of `--cpu-prof` that are read here. */
type Written = {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};

/** A function, or an activity of the engine, with the share of the busy time spent in itself. */
export type SelfTime = { readonly what: string; readonly share: number };

const ROOT = path.join(import.meta.dirname, '..', '..');
const IDLE = new Set(['(idle)', '(root)']);

/**
 * Returns the functions of a profile by their self time, the largest first, without idle time. `skip`: milliseconds at
 * the beginning that are left out.
 */
export function selfTimes(file: string, skip: number): { functions: SelfTime[]; rooms: SelfTime[] } {
  const written = JSON.parse(readFileSync(file, 'utf8')) as Written; // by Node
  return { functions: sharesOf(written, skip, nameOf), rooms: sharesOf(written, skip, roomOf) };
}

function sharesOf({ nodes, samples, timeDeltas }: Written, skip: number, nameIt: typeof nameOf): SelfTime[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameIt(callFrame)]));
  const times = new Map<string, number>();
  let elapsed = 0;
  for (const [index, node] of samples.entries()) {
    const [what, time] = [names.get(node) ?? '(unknown)', timeDeltas[index] ?? 0];
    elapsed += time;
    if (elapsed > skip * 1000 && !IDLE.has(what)) times.set(what, (times.get(what) ?? 0) + time);
  }
  const busy = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times]
    .map(([what, time]) => ({ what, share: time / busy }))
    .sort((one, other) => other.share - one.share);
}

function nameOf({ functionName, url, lineNumber }: Written['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name.startsWith('(') ? name : `${name} (native)`;
  return `${name} (${placeOf(url)}:${lineNumber + 1})`;
}

/** Returns the room (a folder of `src` with its subfolders), the package, or the Node module of a function. */
function roomOf({ functionName, url }: Written['nodes'][number]['callFrame']): string {
  if (url === '') return functionName.startsWith('(') ? functionName : 'native code of Node';
  if (!url.startsWith('file:')) return url.replace(/^(node:(?:internal\/)?[a-z_]+).*$/, '$1');
  const [, scoped] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  return scoped ?? path.dirname(placeOf(url)).split('/', 2).join('/');
}

function placeOf(url: string): string {
  if (!url.startsWith('file:')) return url;
  const file = path.relative(ROOT, fileURLToPath(url));
  return file.replace(/^.*node_modules\//, '');
}
