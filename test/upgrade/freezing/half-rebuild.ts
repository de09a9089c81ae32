import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { Site } from './site.ts';

const MOST_TRIES = 40;
/** A file of changes that is larger than this holds views, not only their schema. */
const SCHEMA_BYTES = 100_000;

/**
 * Resolves to the folder of views of a site whose rebuild was killed when the new views had rows and no
 * indexes. Each try is made on a new copy.
 */
export async function halfRebuild(copy: () => Promise<Site>): Promise<string> {
  for (let tried = 1; tried <= MOST_TRIES; tried += 1) {
    const site = await copy();
    const views = path.join(site.dataDir, 'views');
    await killedRebuild(site, views);
    if (!existsSync(path.join(views, 'current.json')) && (await isHalfDone(views))) return views;
  }
  throw new Error(`No rebuild of ${MOST_TRIES} was killed in the middle.`);
}

/** Kills the command as soon as it has written rows. */
async function killedRebuild(site: Site, views: string): Promise<void> {
  const script = path.join(site.release.checkout, 'scripts', 'rebuild.ts');
  const env = { ...process.env, ...site.env, DEPOSIT_DATA_DIR: site.dataDir };
  const child = spawn(process.execPath, [script, '--all'], { env, stdio: 'ignore' });
  const exited = once(child, 'exit');
  const hasRows = (name: string) =>
    name.endsWith('-wal') && (sizeOf(path.join(views, name)) ?? 0) > SCHEMA_BYTES;
  while (child.exitCode === null && !newGenerations(views).some(hasRows)) await setImmediate();
  child.kill('SIGKILL');
  await exited;
}

/** Looks at a copy, as opening a database changes its files. */
async function isHalfDone(views: string): Promise<boolean> {
  const copied = await mkdtemp(path.join(tmpdir(), 'views-'));
  await cp(views, copied, { recursive: true });
  try {
    using database = new DatabaseSync(path.join(copied, 'views.2.sqlite'));
    const { rows } = database.prepare('SELECT count(last_seen) AS rows FROM about').get() ?? {};
    const index = database
      .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
      .get();
    return rows === 1 && index === undefined;
  } finally {
    await rm(copied, { recursive: true });
  }
}

/** Returns the files of the second generation: the first is in use. */
function newGenerations(views: string): readonly string[] {
  return readdirSync(views).filter((name) => /\.2\.sqlite(-wal)?$/.test(name));
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}
