import { enableCompileCache } from 'node:module';

// Types are stripped and code is compiled once for all later starts: quicker, and much less memory a thread.
const { directory } = enableCompileCache();
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] = directory; // for the worker threads

const { main } = await import('./process.ts');
process.exitCode = await main(process.argv.slice(2));
