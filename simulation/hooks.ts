/** Prepares a process for histories; to be preloaded with `--import`, before the code under test. */
import { type ResolveHookSync, registerHooks } from 'node:module';
import { patchGlobals } from './world/patch-globals.ts';

/** Modules that are replaced. */
const STAND_INS: readonly {
  readonly specifier: RegExp;
  readonly file: string;
}[] = [
  { specifier: /^node:sqlite$/, file: 'disk/sqlite.ts' },
  { specifier: /^@eventstore\/db-client$/, file: 'cluster/db-client.ts' },
  { specifier: /\/archives\/workers\/archive-workers\.ts$/, file: 'archives/archive-workers.ts' },
];

const resolve: ResolveHookSync = (specifier, context, next) => {
  const found = STAND_INS.find((one) => one.specifier.test(specifier));
  if (!found) return next(specifier, context);
  return { url: new URL(found.file, import.meta.url).href, shortCircuit: true };
};

registerHooks({ resolve });
patchGlobals();
