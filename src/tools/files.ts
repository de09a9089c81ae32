import synchronous from 'node:fs';
import promised from 'node:fs/promises';
import { type Files, partOfWorld } from './outside-world.ts';

export const FILES_OF_NODE: Files = { ...synchronous, ...promised };

/** The files of the calling node: functions with the names, arguments and results of those in Node. */
export const files: Files = partOfWorld('files', FILES_OF_NODE);
