import path from 'node:path';
import type { Logger } from '../logger.ts';
import { ResumableUploads, type UploadLimits } from './resumable-uploads.ts';

/** Uploads that come in pieces lie on the node that takes them; `undefined` where none are taken. */
export async function openUploads(
  { uploadLimits: limits, dataDir }: { readonly uploadLimits: UploadLimits; readonly dataDir: string },
  logger: Logger,
): Promise<ResumableUploads | undefined> {
  if (limits.maxSize === 0) return undefined;
  return ResumableUploads.open({ folder: path.join(dataDir, 'uploads'), limits, logger });
}
