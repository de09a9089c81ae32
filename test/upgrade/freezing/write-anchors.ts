import { copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Site } from './site.ts';

/** Writes what an auditor keeps elsewhere: the anchors of a site, and the public key that they are signed with. */
export async function writeAnchors(site: Site, to: string): Promise<void> {
  await copyFile(path.join(site.folder, 'anchors.ndjson'), path.join(to, 'anchors.ndjson'));
  await writeFile(path.join(to, 'anchor-key.pem'), await site.run('anchor', ['--public-key']));
}
