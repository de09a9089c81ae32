/** Prepares a process for histories; to be preloaded with `--import`, before the code under test. */
import { readFileSync } from 'node:fs';
import { type LoadHookSync, type ResolveHookSync, registerHooks } from 'node:module';
import { mutationNamed } from './mutations/mutations.ts';
import { patchGlobals } from './world/patch-globals.ts';

const ROOT = new URL('../', import.meta.url).href;

/** Modules that are replaced. */
const STAND_INS: readonly {
  readonly specifier: RegExp;
  readonly file: string;
}[] = [
  { specifier: /^@eventstore\/db-client$/, file: 'cluster/db-client.ts' },
  { specifier: /\/archives\/threads\/archive-workers\.ts$/, file: 'archives/archive-workers.ts' },
];

const mutation = mutationNamed(
  process.argv.find((argument) => argument.startsWith('--mutation='))?.slice(11),
);

const resolve: ResolveHookSync = (specifier, context, next) => {
  const found = STAND_INS.find((one) => one.specifier.test(specifier));
  if (!found) return next(specifier, context);
  return { url: new URL(found.file, import.meta.url).href, shortCircuit: true };
};

const load: LoadHookSync = (url, context, next) => {
  const edits = mutation?.edits.filter(({ file }) => url === `${ROOT}${file}`) ?? [];
  if (edits.length === 0) return next(url, context);
  const source = edits.reduce(
    (text, { find, replace }) => {
      if (!text.includes(find)) throw new Error(`The mutation does not match ${url}: ${find}`);
      return text.replace(find, () => replace);
    },
    readFileSync(new URL(url), 'utf8'),
  );
  return { format: 'module-typescript', source, shortCircuit: true };
};

registerHooks({ resolve, load });
patchGlobals();
