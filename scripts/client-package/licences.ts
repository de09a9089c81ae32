import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** Packages whose one file has their dependencies in it. */
const WITH_DEPENDENCIES = new Set(['fast-xml-parser']);

/** Holders of the rights in packages under MIT that have no file with the text, as they say elsewhere. */
const RIGHTS: Readonly<Record<string, string>> = {
  '@nodable/entities': 'Copyright (c) Amit Gupta (https://solothought.com)',
  'xz-decompress': `Copyright (c) Tim Perry
Based on xzwasm, copyright (c) Steve Sanderson, https://github.com/SteveSanderson/xzwasm
Contains walloc, copyright (c) 2020 Igalia, S.L., https://github.com/wingo/walloc
Contains xz-embedded by Lasse Collin and Igor Pavlov, public domain, https://tukaani.org/xz/embedded.html`,
};

/** Returns name, version and licence text of each package in a bundle. @throws {Error} a text is missing. */
export function licenceTexts(folders: Iterable<string>): string {
  const all = new Set<string>();
  for (const folder of folders) addWithDependencies(folder, all);
  const texts = [...all].map(licenceText).toSorted();
  return `This program contains the following packages.\n\n${texts.join(`\n${'-'.repeat(78)}\n\n`)}`;
}

function addWithDependencies(folder: string, all: Set<string>): void {
  if (all.has(folder)) return;
  all.add(folder);
  const { name, dependencies = {} } = manifestIn(folder);
  if (WITH_DEPENDENCIES.has(name)) addDependencies(folder, Object.keys(dependencies), all);
}

function addDependencies(folder: string, names: readonly string[], all: Set<string>): void {
  for (const name of names) {
    const found = createRequire(path.join(folder, 'package.json'))
      .resolve.paths(name)
      ?.map((place) => path.join(place, name))
      .find((place) => existsSync(path.join(place, 'package.json')));
    if (found === undefined) throw new Error(`The package ${name} is not installed: run npm ci.`);
    if (all.has(found)) continue;
    all.add(found);
    addDependencies(found, Object.keys(manifestIn(found).dependencies ?? {}), all);
  }
}

function licenceText(folder: string): string {
  const { name, version, license } = manifestIn(folder);
  const file = readdirSync(folder).find((one) => /^(licen[cs]e|copying)(\.\w+)?$/i.test(one));
  const text = file === undefined ? mitText(name, license) : readFileSync(path.join(folder, file), 'utf8');
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}

/** @throws {Error} the package is under another licence, or not in the table. */
function mitText(name: string, license: string): string {
  const rights = RIGHTS[name];
  if (rights === undefined || license !== 'MIT')
    throw new Error(`The package ${name} (${license}) has no licence text: find out its terms.`);
  return `MIT License\n\n${rights}\n\n${MIT}`;
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`;

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
};

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
}
