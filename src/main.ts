import { enableCompileCache } from 'node:module';

// Caches stripped types and compiled code for later starts: faster, and much less memory per thread.
const { directory } = enableCompileCache();
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] = directory; // for the worker threads, too

/*
 * Some memory can only be limited before the first line of a program runs. Without a known cache, the compiler that
 * strips the types of this file remains in memory (17 MiB). The same holds for the young generation of the heap and
 * the malloc arenas of threads. So the process replaces itself with its program, under the same process id.
 */
const SEMI_SPACE_OPTION = '--max-semi-space-size';
const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
if (process.execve && !given.some((options) => options.includes(SEMI_SPACE_OPTION))) {
  process.env['MALLOC_ARENA_MAX'] ??= '2';
  const args = [`${SEMI_SPACE_OPTION}=2`, ...process.execArgv, ...process.argv.slice(1)];
  try {
    process.execve(process.execPath, [process.execPath, ...args], process.env);
  } catch {
    // Not permitted: the process continues with more memory.
  }
}

// Before the program handles signals, no work has begun that would need an orderly stop.
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const endAtOnce = (): void => process.exit(0);
for (const signal of SIGNALS) process.on(signal, endAtOnce);
const { main } = await import('./service/process/process.ts');
const running = main(process.argv.slice(2)); // once this returns, the program handles signals itself
for (const signal of SIGNALS) process.off(signal, endAtOnce);
process.exitCode = await running;
