import path from 'node:path';
import type { Logger } from '../../tools/logger.ts';
import { ResumableUploads, type UploadLimits } from './resumable-uploads.ts';

/** Opens the resumable uploads of this node, which stores them locally; `undefined` if they are disabled. */
export async function openUploads(
  { uploadLimits: limits, dataDir }: { readonly uploadLimits: UploadLimits; readonly dataDir: string },
  logger: Logger,
): Promise<ResumableUploads | undefined> {
  if (limits.maxSize === 0) return undefined;
  return ResumableUploads.open({ folder: path.join(dataDir, 'uploads'), limits, logger });
}
