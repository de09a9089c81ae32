import path from 'node:path';
import { files } from '../files.ts';

/** Returns the path without symbolic links, also of what does not exist yet in an existing folder. */
export function realPath(place: string): string {
  const absolute = path.resolve(place);
  if (files.existsSync(absolute)) return files.realpathSync(absolute);
  const folder = path.dirname(absolute);
  return folder === absolute ? absolute : path.join(realPath(folder), path.basename(absolute));
}
