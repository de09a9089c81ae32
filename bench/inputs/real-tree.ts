import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { ended } from './ended.ts';

export type RealTree = {
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
  /** Describes the sources of the tree, for a person. */
  readonly sources: string;
};

/** Some 16,000 files, from many small modules to a few bundles of megabytes. */
const NPM = [
  '@babel/standalone@7.29.10',
  'core-js@3.51.0',
  'date-fns@4.4.0',
  'lodash-es@4.18.1',
  'ol@10.11.0',
  'react-dom@19.3.1',
  'rxjs@7.8.2',
  'three@0.170.0',
];
const DEBIAN = ['hello', 'less', 'redis', 'tree'];
/** Limits of what is copied from node_modules. */
const [MOST_FILES, MOST_BYTES, LARGEST_FILE] = [16_000, 130e6, 8e6];

/** Downloads packages by name, or copies from node_modules if that fails or is not wanted. The result is reused. */
export async function realTree(
  folder: string,
  offline: boolean,
  tell: (progress: string) => void,
): Promise<RealTree> {
  const facts = `${folder}.json`;
  if (existsSync(facts)) return JSON.parse(readFileSync(facts, 'utf8')) as RealTree; // written below
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const sources = offline ? copyModules(folder) : await fetchAll(folder, tell);
  const tree = { folder, ...sizeOf(folder), sources };
  writeFileSync(facts, JSON.stringify(tree));
  return tree;
}

async function fetchAll(folder: string, tell: (progress: string) => void): Promise<string> {
  try {
    tell('fetching npm packages');
    const names = await fetchPackages(folder);
    tell('fetching Debian sources');
    const debian = await fetchDebianSources(folder).catch(
      (error: Error) => `no Debian sources (${error.message})`,
    );
    return `${names}; ${debian}`;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    return `${copyModules(folder)}, since npm fetched nothing (${(error as Error).message})`;
  }
}

async function fetchPackages(folder: string): Promise<string> {
  const packed = `${folder}-npm`;
  mkdirSync(packed, { recursive: true });
  await ended('npm', ['pack', '--silent', ...NPM], { cwd: packed });
  for (const name of readdirSync(packed)) {
    const target = path.join(folder, name.replace(/\.tgz$/, ''));
    mkdirSync(target);
    await ended('tar', ['xzf', path.join(packed, name), '-C', target]);
  }
  rmSync(packed, { recursive: true });
  return `npm packages ${NPM.join(' ')}`;
}

/** Downloads with a list of sources and folders of its own: the machine's may have no sources, and must not change. */
async function fetchDebianSources(folder: string): Promise<string> {
  const [, codename] = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  const place = `${folder}-apt`;
  const [lists, cache, list] = ['lists', 'cache', 'sources.list'].map((name) => path.join(place, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [path.join(lists, 'partial'), path.join(cache, 'archives', 'partial')])
    mkdirSync(each, { recursive: true });
  writeFileSync(list, `deb-src http://deb.debian.org/debian ${codename} main\n`);
  const options = [
    ['Dir::Etc::sourcelist', list],
    ['Dir::Etc::sourceparts', '-'],
    ['Dir::State::lists', lists],
    ['Dir::Cache', cache],
  ].flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await ended('apt-get', [...options, 'update'], { cwd: place });
  await ended('apt-get', [...options, 'source', '--download-only', ...DEBIAN], { cwd: place });
  const originals = readdirSync(place).filter((name) => /\.orig\.tar\.(gz|xz|bz2)$/.test(name));
  for (const name of originals) await ended('tar', ['xf', path.join(place, name), '-C', folder]);
  rmSync(place, { recursive: true });
  return `Debian ${codename} sources ${originals.join(' ')}`;
}

/** Copies packages up to the limits; single large files are programs, not source code. */
function copyModules(folder: string): string {
  const modules = path.join(import.meta.dirname, '..', '..', 'node_modules');
  let [files, bytes] = [0, 0];
  for (const name of readdirSync(modules).filter((each) => !each.startsWith('.'))) {
    const filter = (file: string) => {
      const stats = statSync(file);
      if (stats.isDirectory()) return true;
      if (files >= MOST_FILES || bytes >= MOST_BYTES || stats.size > LARGEST_FILE) return false;
      [files, bytes] = [files + 1, bytes + stats.size];
      return true;
    };
    cpSync(path.join(modules, name), path.join(folder, name), { recursive: true, filter });
  }
  return 'node_modules of this project';
}

function sizeOf(folder: string): { readonly files: number; readonly bytes: number } {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const bytes = files.reduce(
    (sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size,
    0,
  );
  return { files: files.length, bytes };
}
