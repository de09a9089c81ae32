import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** A defect that is put in on purpose, to see whether it is found: a patch below `drills/mutations`. */
export type Mutation = {
  readonly name: string;
  /** A sentence: what the defect is. */
  readonly what: string;
  /** The file of the patch. */
  readonly patch: string;
  readonly guard: Guard;
};

export type Guard =
  | { readonly by: 'simulation' }
  /** A command that fails in a copy with the defect. */
  | { readonly by: 'command'; readonly command: string }
  /** The defect does no harm, because of a second guard. */
  | { readonly by: 'second guard'; readonly what: string };

const ROOT = path.join(import.meta.dirname, '..');
/** The folders of a copy: all that the simulation, the drills and the tests read. */
const COPIED = ['client', 'docs', 'drills', 'projections', 'scripts', 'simulation', 'src', 'test', 'testing'];
const COPIED_FILES = ['package.json', 'tsconfig.json'];
const GUARD = /^(Found|Covered) by: (.+)$/;

const run = promisify(execFile);

/** Every mutation, by its name. */
export const MUTATIONS: ReadonlyMap<string, Mutation> = new Map(
  globSync('drills/mutations/*.patch', { cwd: ROOT })
    .toSorted()
    .map((file) => path.basename(file, '.patch'))
    .map((name) => [name, readMutation(name)]),
);

/** A copy of the project with a defect in it, in a temporary folder. */
export class MutatedCopy implements AsyncDisposable {
  readonly folder: string;

  readonly #patch: string;

  static async of({ patch }: Mutation): Promise<MutatedCopy> {
    const folder = await mkdtemp(path.join(tmpdir(), 'mutation-'));
    const copy = new MutatedCopy(folder, patch);
    try {
      for (const name of [...COPIED, ...COPIED_FILES])
        await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true });
      await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
      await run('git', ['init', '--quiet'], { cwd: folder }); // else the patch is for a repository around it, if any
      await run('git', ['apply', patch], { cwd: folder });
      return copy;
    } catch (error) {
      await copy[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(folder: string, patch: string) {
    this.folder = folder;
    this.#patch = patch;
  }

  /** Takes the defect out again. */
  async repair(): Promise<void> {
    await run('git', ['apply', '--reverse', this.#patch], { cwd: this.folder });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

/** @throws {Error} the first lines of the patch do not name the defect and what finds it. */
function readMutation(name: string): Mutation {
  const patch = path.join(ROOT, 'drills', 'mutations', `${name}.patch`);
  const [what = '', guardLine = ''] = readFileSync(patch, 'utf8').split('\n');
  const [, verb, guard = ''] = GUARD.exec(guardLine) ?? [];
  if (verb === undefined) throw new Error(`The second line of ${patch} does not name what finds the defect.`);
  return { name, what, patch, guard: guardOf(verb, guard) };
}

function guardOf(verb: string, guard: string): Guard {
  if (verb === 'Covered') return { by: 'second guard', what: guard };
  return guard === 'simulation' ? { by: 'simulation' } : { by: 'command', command: guard };
}
