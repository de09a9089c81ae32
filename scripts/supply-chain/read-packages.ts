import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { unlessMissing } from '../../src/tools/files/access.ts';

/** The fields of a package in package-lock.json that the checks use. */
export type LockedPackage = {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly optional?: boolean;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
};

/** The package.json of an installed package; older ones state licences in other forms. */
export type InstalledPackage = {
  readonly version?: string;
  readonly license?: string | { readonly type?: string };
  readonly licenses?: readonly { readonly type?: string }[];
  readonly scripts?: Readonly<Record<string, string>>;
};

type Manifest = {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
};

export type Packages = {
  readonly manifest: Manifest;
  /** Packages by their paths below the root, such as `node_modules/koa`. */
  readonly locked: ReadonlyMap<string, LockedPackage>;
  /** The packages that are installed; optional ones for other platforms are not. */
  readonly installed: ReadonlyMap<string, InstalledPackage>;
  /** Paths of installed packages that the lock does not name. */
  readonly unlocked: readonly string[];
  /** The text of all records in docs/decisions. */
  readonly decisions: string;
};

const ROOT = path.join(import.meta.dirname, '../..');

export async function readPackages(root = ROOT): Promise<Packages> {
  const manifest = (await jsonIn(path.join(root, 'package.json'))) as Partial<Manifest>;
  const lock = (await jsonIn(path.join(root, 'package-lock.json'))) as Lock;
  const locked = new Map(Object.entries(lock.packages).filter(([place]) => place !== ''));
  const found = await Promise.all(
    [...locked.keys()].map(async (place) => {
      const said = await jsonIn(path.join(root, place, 'package.json')).catch(unlessMissing(undefined));
      return said === undefined ? [] : [[place, said as InstalledPackage] as const];
    }),
  );
  const none = { dependencies: {}, devDependencies: {}, optionalDependencies: {}, allowScripts: {} };
  return {
    manifest: { ...none, ...manifest },
    locked,
    installed: new Map(found.flat()),
    unlocked: (await placesIn(root, 'node_modules')).filter((place) => !locked.has(place)),
    decisions: await textOf(path.join(root, 'docs/decisions')),
  };
}

/** Returns the paths of all packages in a folder `node_modules`, and in those of its packages. */
async function placesIn(root: string, folder: string): Promise<string[]> {
  const names = await readdir(path.join(root, folder)).catch(unlessMissing<string[]>([]));
  const places = await Promise.all(
    names.map(async (name) => {
      const place = `${folder}/${name}`;
      if (name.startsWith('.')) return [];
      if (name.startsWith('@')) return placesIn(root, place);
      return [place, ...(await placesIn(root, `${place}/node_modules`))];
    }),
  );
  return places.flat();
}

/** A lock file of version 2 or later, which npm writes since version 7. */
type Lock = { readonly packages: Readonly<Record<string, LockedPackage>> };

async function jsonIn(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, 'utf8'));
}

async function textOf(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md'));
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
  return texts.join('\n');
}
