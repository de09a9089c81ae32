import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Site } from './site.ts';

/** Resolves to the record of an upload, as the old release writes it. */
export async function recordOf(
  site: Site,
  id: string,
): Promise<{ readonly length: number; readonly state: { readonly status: string } }> {
  return JSON.parse(await readFile(path.join(site.uploadsFolder, `${id}.json`), 'utf8'));
}
