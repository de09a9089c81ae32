import type { InstalledPackage, LockedPackage, Packages } from './read-packages.ts';

/** Licences that require no more than to retain their text and the names of the authors. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0',
]);

/**
 * Decisions about one version of a package: its licence is not stated in package.json, and was determined by reading the
 * package; or it is not on the list above, and was allowed for the way in which the package is used.
 */
const EXCEPTIONS: ReadonlyMap<string, { readonly licence: string; readonly reason: string }> = new Map([
  [
    'node_modules/combine-errors@3.0.3',
    { licence: 'MIT', reason: 'its Readme.md says so; development only' },
  ],
  [
    'node_modules/axe-core@4.14.1',
    { licence: 'MPL-2.0', reason: 'used unchanged, by tests only, and part of no package of this project' },
  ],
]);

/** Returns a sentence for each package whose licence is unknown or not allowed, or that differs from the lock. */
export function licenceProblems(
  { locked, installed }: Pick<Packages, 'locked' | 'installed'>,
  exceptions = EXCEPTIONS,
): string[] {
  const unused = new Set(exceptions.keys());
  const problems = [...locked].flatMap(([place, expected]) => {
    const found = installed.get(place);
    if (!found && !expected.optional) return [`${place} is not installed: run npm ci.`];
    if (found && found.version !== expected.version) {
      return [`${place} is installed as ${found.version}, locked as ${expected.version}: run npm ci.`];
    }
    const known = `${place}@${expected.version}`;
    const said = licenceOf(found, expected);
    if ((said === undefined || said === exceptions.get(known)?.licence) && unused.delete(known)) return [];
    return said !== undefined && isAllowed(said) ? [] : [`${known} has the licence ${said ?? 'unknown'}.`];
  });
  return [...problems, ...[...unused].map((known) => `The exception for ${known} is no longer needed.`)];
}

/** Returns the licence of a package. The lock counts only for packages that are not installed. */
function licenceOf(
  found: InstalledPackage | undefined,
  { license: locked }: LockedPackage,
): string | undefined {
  if (!found) return locked;
  const { license, licenses } = found;
  if (typeof license === 'string') return license;
  if (license?.type !== undefined) return license.type;
  const types = licenses?.flatMap(({ type }) => (type === undefined ? [] : [type])) ?? [];
  return types.length === 0 ? undefined : types.join(' OR ');
}

/** Whether the licences allow one choice of an SPDX expression without brackets: AND binds before OR. */
export function isAllowed(expression: string): boolean {
  // (A OR B) AND C would be misread: a person must decide about such an expression.
  if (/\([^)]*\bOR\b[^)]*\)\s*AND|AND\s*\([^)]*\bOR\b/.test(expression)) return false;
  return expression
    .replace(/[()]/g, ' ')
    .split(/\bOR\b/)
    .some((all) => all.split(/\bAND\b/).every((id) => ALLOWED.has(id.trim())));
}
