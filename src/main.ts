import { enableCompileCache } from 'node:module';

// Types are stripped and code is compiled once for all later starts: quicker, and much less memory a thread.
const { directory } = enableCompileCache();
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] = directory; // for the worker threads, too

/*
 * Some memory can only be saved before the first line of a program runs: the compiler that strips this very file of
 * its types stays (17 MiB) unless the cache is known by then, and so does what young objects and the arenas of threads
 * may take. So the process starts its program anew, as the same process.
 */
const YOUNG_OBJECTS = '--max-semi-space-size';
const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
if (process.execve && !given.some((options) => options.includes(YOUNG_OBJECTS))) {
  process.env['MALLOC_ARENA_MAX'] ??= '2';
  const args = [`${YOUNG_OBJECTS}=2`, ...process.execArgv, ...process.argv.slice(1)];
  try {
    process.execve(process.execPath, [process.execPath, ...args], process.env);
  } catch {
    // It is not allowed to: it goes on with more memory.
  }
}

// Until it knows how to stop, nothing is begun yet that would have to be brought to an end.
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const endAtOnce = (): void => process.exit(0);
for (const signal of SIGNALS) process.on(signal, endAtOnce);
const { main } = await import('./process.ts');
const running = main(process.argv.slice(2)); // when this returns it listens to signals itself
for (const signal of SIGNALS) process.off(signal, endAtOnce);
process.exitCode = await running;
