import synchronous from 'node:fs';
import promised from 'node:fs/promises';
import { type Files, ownOr } from './outside-world.ts';

export const FILES_OF_NODE: Files = { ...synchronous, ...promised };

/** The files of the calling node: functions with the names, arguments and results of those in Node. */
export const files: Files = { ...FILES_OF_NODE };

for (const [name, value] of Object.entries(FILES_OF_NODE)) {
  if (typeof value !== 'function') continue;
  const call = (...args: unknown[]): unknown => Reflect.apply(functionNamed(name), undefined, args);
  Object.assign(files, { [name]: call });
}

function functionNamed(name: string): (...args: unknown[]) => unknown {
  return Reflect.get(ownOr('files', FILES_OF_NODE), name);
}
