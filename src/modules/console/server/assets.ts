import { createHash } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { files } from '../../../tools/files.ts';
import { withoutTypes } from './without-types.ts';

const compress = promisify(brotliCompress);

const ROOT = path.join(import.meta.dirname, '../../../..');
/** Sources that browsers may read: none knows a secret, and none runs in the service alone. */
const FOLDERS = [
  'src/modules/console/browser/**/*.{ts,css}',
  'src/modules/console/proof/**/*.ts',
  'src/modules/console/protocol/*.ts',
  'src/domain/**/*.ts',
  'projections/*.ts',
];
/** Packages by the names under which the sources import them. */
const PACKAGES = ['preact', 'preact/hooks', 'htm'];
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
};

/** Static imports of a script without types; dynamic ones are not found. */
const IMPORTS = /^(?:import|export) [^;'"]*? from '([^']+)';$/gm;

export type Asset = { readonly type: string; readonly body: Buffer; readonly compressed: Buffer };

/**
 * The scripts and styles of the console: sources without their types, each under an address with a hash of all, so
 * that browsers may keep them for ever. They are read at the first use of the console, and compressed at their own.
 */
export class Assets {
  readonly #files: ReadonlyMap<string, string>;
  readonly #assets = new Map<string, Promise<Asset>>();
  /** The address of all files of this release. */
  readonly release: string;

  static async open(): Promise<Assets> {
    const names = FOLDERS.flatMap((pattern) => files.globSync(pattern, { cwd: ROOT })).toSorted();
    const found = new Map(names.map((name) => [name.split(path.sep).join('/'), path.join(ROOT, name)]));
    for (const name of PACKAGES) found.set(`${name}.mjs`, fileURLToPath(import.meta.resolve(name)));
    const hash = createHash('sha256').update(process.version);
    for (const [name, file] of found) hash.update(name).update(await files.readFile(file));
    return new Assets(found, hash.digest('hex').slice(0, 16));
  }

  private constructor(found: ReadonlyMap<string, string>, hash: string) {
    this.#files = found;
    this.release = `/console/assets/${hash}/`;
  }

  urlOf(name: string): string {
    return `${this.release}${name}`;
  }

  /** Resolves to the addresses of all scripts that these import, for the browser to fetch them at once. */
  async importedBy(...scripts: readonly string[]): Promise<readonly string[]> {
    const found = new Set<string>();
    for (const name of scripts) await this.#addImports(name, found);
    return [...found].map((name) => this.urlOf(name));
  }

  async #addImports(name: string, found: Set<string>): Promise<void> {
    const asset = await this.#assetOf(name);
    for (const [, specifier = ''] of (asset?.body.toString() ?? '').matchAll(IMPORTS)) {
      const imported = specifier.startsWith('.')
        ? path.posix.join(path.posix.dirname(name), specifier)
        : `${specifier}.mjs`;
      if (found.has(imported)) continue;
      found.add(imported);
      await this.#addImports(imported, found);
    }
  }

  /** Returns the import map, by which browsers find the packages. */
  get importMap(): string {
    return JSON.stringify({
      imports: Object.fromEntries(PACKAGES.map((name) => [name, this.urlOf(`${name}.mjs`)])),
    });
  }

  /** Resolves to the file at an address; `undefined` for one that browsers may not read, or of another release. */
  async at(url: string): Promise<Asset | undefined> {
    return url.startsWith(this.release) ? this.#assetOf(url.slice(this.release.length)) : undefined;
  }

  async #assetOf(name: string): Promise<Asset | undefined> {
    const file = this.#files.get(name);
    if (file === undefined) return undefined;
    return this.#assets.getOrInsertComputed(name, () =>
      load(file).catch((error: unknown) => {
        this.#assets.delete(name); // it may be readable for the next request
        throw error;
      }),
    );
  }
}

async function load(file: string): Promise<Asset> {
  const source = await files.readFile(file, 'utf8');
  const extension = path.extname(file);
  const body = Buffer.from(extension === '.ts' ? withoutTypes(source) : source);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  return { type: TYPES[extension] ?? 'text/javascript', body, compressed: await compress(body, { params }) };
}
