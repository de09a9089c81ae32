import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { packedFolder } from '../fixture-archive.ts';
import { EmbeddedClaims } from './claims.ts';
import { halfRebuild } from './half-rebuild.ts';
import type { OldRelease } from './old-release.ts';
import { NOTIFIED } from './people.ts';
import { Receivers } from './receivers.ts';
import { recordExpected } from './record-expected.ts';
import { play } from './scenario.ts';
import { Site } from './site.ts';
import { writeAnchors } from './write-anchors.ts';

/** Third number of the addresses of receivers. */
const NETWORK = 19;

/** Freezes a data folder of the embedded engines, with all that is made from it, into the folder `to`. */
export async function freezeEmbedded(release: OldRelease, scratch: string, to: string): Promise<void> {
  const folder = path.join(scratch, 'embedded');
  await mkdir(path.join(folder, 'data'), { recursive: true, mode: 0o700 });
  await mkdir(to, { recursive: true });
  await using site = new Site(release, { folder, engines: {} });
  await using receivers = await Receivers.start(NETWORK, NOTIFIED);
  const played = await play(site, receivers, new EmbeddedClaims(site));
  await writeFile(path.join(to, 'data.tar.gz'), await packedFolder(site.dataDir));
  await writeAnchors(site, to);
  const copy = (name: string) => copyOf(site, path.join(scratch, name));
  await writeFile(path.join(to, 'backup.tar.gz'), await backupOf(await copy('backed-up')));
  await writeFile(path.join(to, 'export.ndjson.gz'), await exportOf(await copy('exported')));
  const views = await halfRebuild(async () => copy('rebuilt'));
  await writeFile(path.join(to, 'half-rebuilt-views.tar.gz'), await packedFolder(views));
  const expected = await recordExpected(site, receivers, played);
  await writeFile(path.join(to, 'expected.json'), `${JSON.stringify(expected, null, 1)}\n`);
}

/** Copies a site, so that a command can change something. */
async function copyOf(site: Site, folder: string): Promise<Site> {
  await rm(folder, { recursive: true, force: true });
  await cp(site.folder, folder, { recursive: true });
  return new Site(site.release, { folder, engines: {} });
}

async function backupOf(site: Site): Promise<Buffer> {
  const folder = path.join(site.folder, 'backup');
  await site.run('backup', [folder, '--verify']);
  return packedFolder(folder);
}

async function exportOf(site: Site): Promise<Buffer> {
  const file = path.join(site.folder, 'export.ndjson');
  await site.run('export', ['--output', file]);
  return gzipSync(await readFile(file), { level: 9 });
}
