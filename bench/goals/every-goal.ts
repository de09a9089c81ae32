import type { Goal } from '../frame/goal.ts';
import { append } from './g01-append.ts';
import { create } from './g02-create.ts';
import { readWhileWriting } from './g03-read-while-writing.ts';
import { multipartUpload, upload } from './g04-upload.ts';
import { smallObject } from './g06-small-object.ts';
import { credentialsCheck, readStatus } from './g07-read-status.ts';
import { checkTarGz, checkZip } from './g09-archives.ts';
import { identifyFolder } from './g11-folder.ts';
import { rebuildViews } from './g12-rebuild.ts';
import { start } from './g13-start.ts';
import { memory } from './g14-memory.ts';
import { consoleRequests } from './g15-console.ts';
import { firstScreen } from './g16-first-screen.ts';
import { mixedLoad } from './g17-mixed-load.ts';

/** All goals, ordered by their numbers. */
export const everyGoal: readonly Goal[] = [
  append,
  create,
  readWhileWriting,
  upload,
  multipartUpload,
  smallObject,
  readStatus,
  credentialsCheck,
  checkZip,
  checkTarGz,
  identifyFolder,
  rebuildViews,
  start,
  memory,
  consoleRequests,
  firstScreen,
  mixedLoad,
];
