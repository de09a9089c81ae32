import { constants, openSync } from 'node:fs';
import { Fault, reasonOf } from '../faults.ts';
import { onDisk, shown } from './folder-members.ts';

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

/** Opens a file of a folder for reading, if it is still no link. @throws {Fault} */
export function opened(folder: string, member: string): number {
  try {
    return openSync(onDisk(folder, member), FLAGS);
  } catch (error) {
    throw new Fault(`${shown(folder, member)} cannot be read: ${reasonOf(error)}.`);
  }
}

export function changed(folder: string, member: string): Fault {
  return new Fault(
    `${shown(folder, member)} changed while it was packed: try again when nobody writes to it.`,
  );
}
