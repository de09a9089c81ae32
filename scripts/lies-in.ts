import path from 'node:path';

/** Whether a file or folder is the folder or lies in it. */
export function liesIn(folder: string, place: string): boolean {
  const [outer, inner] = [path.resolve(folder), path.resolve(place)];
  return inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}
