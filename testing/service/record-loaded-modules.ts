import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/**
 * For `node --import`: adds the URL of every module that the process loads, in any thread, to the file named by
 * `LOADED_MODULES`.
 */
const file = process.env['LOADED_MODULES'];
if (file === undefined) throw new Error('LOADED_MODULES does not name a file.');
registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(file, `${url}\n`);
    return nextLoad(url, context);
  },
});
