import { constants, openSync } from 'node:fs';
import { Fault } from '../faults.ts';
import { onDisk, printablePath, unreadable } from './folder-members.ts';

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

/** Opens a file of a folder for reading, unless it has become a link. @throws {Fault} */
export function openMember(folder: string, member: string): number {
  try {
    return openSync(onDisk(folder, member), FLAGS);
  } catch (error) {
    throw unreadable(folder, member, error);
  }
}

export function changedFault(folder: string, member: string): Fault {
  return new Fault(
    `${printablePath(folder, member)} changed while it was packed: try again when no process writes to it.`,
  );
}
