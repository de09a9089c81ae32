import { licenceProblems } from './licence-check.ts';
import type { InstalledPackage, LockedPackage, Packages } from './read-packages.ts';

export type Check = {
  readonly name: string;
  /** Number of packages checked. */
  readonly looked: number;
  /** One sentence per problem. */
  readonly problems: readonly string[];
  /** Why the check could not be done. */
  readonly notChecked?: string;
};

/** Returns all checks that need no network. */
export function checkPackages(packages: Packages): Check[] {
  const { manifest, locked, installed, unlocked } = packages;
  const places = [...locked];
  const scripted = places.filter(([place, found]) => runsScripts(found, installed.get(place)));
  const runtime = Object.keys({ ...manifest.dependencies });
  return [
    {
      name: 'lock',
      looked: locked.size,
      problems: [
        ...directDependencies(packages).flatMap(pinProblem),
        ...places.flatMap(([place, found]) => lockProblem(place, found)),
        ...unlocked.map((place) => `${place} is installed, but package-lock.json does not name it.`),
      ],
    },
    { name: 'licences', looked: locked.size, problems: licenceProblems(packages) },
    {
      name: 'install scripts',
      looked: scripted.length,
      problems: scripted
        .map(([place]) => packageAt(place))
        .filter((name) => !Object.hasOwn(manifest.allowScripts, name))
        .map((name) => `${name} runs a script when it is installed; allowScripts does not name it.`),
    },
    {
      name: 'decisions',
      looked: runtime.length,
      problems: runtime
        .filter((name) => !isNamed(name, packages.decisions))
        .map((name) => `${name} is a dependency that no record in docs/decisions names.`),
    },
  ];
}

const REGISTRY = 'https://registry.npmjs.org/';

type Direct = readonly [name: string, wanted: string, locked: string | undefined];

function directDependencies({ manifest, locked }: Packages): Direct[] {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const direct = { ...dependencies, ...devDependencies, ...optionalDependencies };
  return Object.entries(direct).map(([name, wanted]) => {
    return [name, wanted, locked.get(`node_modules/${name}`)?.version];
  });
}

function pinProblem([name, wanted, version]: Direct): string[] {
  if (wanted === version) return [];
  return [`${name} is ${wanted} in package.json and ${version ?? 'missing'} in package-lock.json.`];
}

function lockProblem(place: string, { integrity, resolved, link }: LockedPackage): string[] {
  if (link) return [`${place} is a link to something outside of the lock.`];
  return [
    ...(integrity?.startsWith('sha512-') ? [] : [`${place} has no SHA-512 in package-lock.json.`]),
    ...(resolved === undefined || resolved.startsWith(REGISTRY)
      ? []
      : [`${place} comes from ${resolved}, not from the npm registry.`]),
  ];
}

/** Whether a package runs scripts on installation. The lock only repeats what the package states, and may be wrong. */
function runsScripts(
  { hasInstallScript = false }: LockedPackage,
  said: InstalledPackage | undefined,
): boolean {
  return (
    hasInstallScript || ['preinstall', 'install', 'postinstall'].some((name) => name in (said?.scripts ?? {}))
  );
}

/** Returns the package of a path: `node_modules/a/node_modules/@b/c` is `@b/c`. */
function packageAt(place: string): string {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function isNamed(name: string, text: string): boolean {
  return new RegExp(`(?<![\\w@/-])${RegExp.escape(name)}(?![\\w/-])`).test(text);
}
