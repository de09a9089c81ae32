import path from 'node:path';
import { realPath } from '../../tools/files/real-path.ts';

/** Whether a path is the folder or inside it, by their real paths. */
export function isInside(folder: string, place: string): boolean {
  const [outer, inner] = [realPath(folder), realPath(place)];
  return inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}
