import { registerHooks } from 'node:module';

/*
 * Preloaded into the service, it replaces the embedded event log and changes nothing else: BENCH_EVENT_LOG names a
 * module of bench/references/ that opens it.
 */
const REPLACED = '/src/service/backends/open-log.ts';
const replacement = new URL(`../references/${process.env['BENCH_EVENT_LOG']}.ts`, import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isReplaced = found.url.endsWith(REPLACED) && context.parentURL !== replacement;
    return isReplaced ? { ...found, url: replacement } : found;
  },
});
