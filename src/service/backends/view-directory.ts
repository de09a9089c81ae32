import path from 'node:path';
import type { Config } from '../../config/config.ts';

/** Returns the folder of the views, and the engine of the log that their positions belong to. */
export function viewDirectory({ dataDir, eventLog }: Config): [folder: string, origin: string] {
  return [path.join(dataDir, 'views'), eventLog.kind];
}
