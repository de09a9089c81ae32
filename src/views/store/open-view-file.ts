import path from 'node:path';
import { makeDirectory } from '../../tools/files/make-directory.ts';
import { openTwice } from '../../tools/sqlite/found-twice.ts';
import type { ViewSchema } from '../projection.ts';
import { isUnusable, viewUnavailable } from '../view-unavailable.ts';
import { ViewFile } from './view-file.ts';
import { isMarkedDamaged, removeViewFile } from './view-folder.ts';

/**
 * Opens a file to write it; recreates it if it is missing, corrupt, of another log, next to a foreign journal, or was
 * filled without these views.
 * @throws {ViewUnavailable} it cannot be opened now: the file is left unchanged.
 */
export function openViewFile(file: string, origin: string, schemas: readonly ViewSchema[] = []): ViewFile {
  makeDirectory(path.dirname(file));
  try {
    const found = isMarkedDamaged(file) ? undefined : ifUsable(file, origin, schemas);
    if (found) return found;
    removeViewFile(file);
    const created = new ViewFile(file, origin);
    for (const schema of schemas) created.add(schema);
    return created;
  } catch (error) {
    throw viewUnavailable(file, 'opened', error);
  }
}

function ifUsable(file: string, origin: string, schemas: readonly ViewSchema[]): ViewFile | undefined {
  let found: ViewFile | undefined;
  try {
    found = openTwice(() => new ViewFile(file, origin), isUnusable);
    if (found.about()?.origin === origin && schemas.every((schema) => found?.add(schema))) return found;
  } catch (error) {
    if (!isUnusable(error)) throw error;
  }
  found?.[Symbol.dispose]();
  return undefined;
}
