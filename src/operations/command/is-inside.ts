import path from 'node:path';

/** Whether a path is the folder or inside it. */
export function isInside(folder: string, place: string): boolean {
  const [outer, inner] = [path.resolve(folder), path.resolve(place)];
  return inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}
