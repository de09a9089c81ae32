import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import path from 'node:path';

export type Bundle = {
  readonly code: string;
  /** Folders of the packages in it. */
  readonly packages: ReadonlySet<string>;
};

type Module = {
  readonly number: number;
  readonly code: string;
  /** Numbers of the modules that it requires, by the names that it uses. */
  readonly required: Readonly<Record<string, number>>;
  /** Whether it was compiled from a module of this project. */
  readonly isOwn: boolean;
};

/**
 * Joins a CommonJS module and all that it requires into one file. Requirements are found as texts: `require('name')`.
 * @param packagesFrom a file whose packages are meant, as compiled modules are elsewhere.
 * @throws {Error} a module cannot be found.
 */
export function bundle(entry: string, packagesFrom: string): Bundle {
  const modules = new Map<string, Module>();
  const packages = new Set<string>();
  const add = (file: string): number => {
    const known = modules.get(file);
    if (known) return known.number;
    const code = readFileSync(file, 'utf8').replace(/^#!.*/, '');
    const required: Record<string, number> = {};
    const number = modules.size;
    const folder = packageOf(file);
    modules.set(file, {
      number,
      code: file.endsWith('.json') ? `module.exports = ${code}` : code,
      required,
      isOwn: folder === undefined,
    });
    if (folder !== undefined) packages.add(folder);
    for (const [, name = ''] of code.matchAll(/(?<![.\w])require\(\s*['"]([^'"]+)['"]\s*\)/g)) {
      if (isBuiltin(name)) continue;
      const from = name.startsWith('.') || folder !== undefined ? file : packagesFrom;
      required[name] = add(createRequire(from).resolve(name));
    }
    return number;
  };
  add(entry);
  const table = [...modules.values()].map(
    ({ code, required, isOwn }) =>
      `[${JSON.stringify(required)}, ${isOwn}, function (module, exports, require) {\n${code}\n}]`,
  );
  return { code: `#!/usr/bin/env node\n${LOADER.replace('MODULES', () => table.join(',\n'))}`, packages };
}

// Node imports all that a CommonJS module exports as its default, even if the module sets __esModule. TypeScript does not;
// compiled modules prefer an __importDefault of their `this`.
const LOADER = `'use strict';
const modules = [MODULES];
const asNode = { __importDefault: (exports) => ({ default: exports }) };
const loaded = [];
function load(number) {
  if (loaded[number]) return loaded[number].exports;
  const module = (loaded[number] = { exports: {} });
  const [required, isOwn, define] = modules[number];
  const requireIn = (name) => (Object.hasOwn(required, name) ? load(required[name]) : require(name));
  define.call(isOwn ? asNode : module.exports, module, module.exports, requireIn);
  return module.exports;
}
load(0);
`;

/** Returns the folder of the package of a file; `undefined` for one of this project. */
function packageOf(file: string): string | undefined {
  const mark = `${path.sep}node_modules${path.sep}`;
  const at = file.lastIndexOf(mark);
  if (at === -1) return undefined;
  const [first = '', second = ''] = file.slice(at + mark.length).split(path.sep);
  return path.join(file.slice(0, at + mark.length), first, first.startsWith('@') ? second : '');
}
