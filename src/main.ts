import { enableCompileCache } from 'node:module';
import path from 'node:path';
import v8 from 'node:v8';

// Before the program handles signals, no work has begun that would need an orderly stop.
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const endAtOnce = (): void => process.exit(0);
for (const signal of SIGNALS) process.on(signal, endAtOnce);

/*
 * Caches stripped types and compiled code for later starts: faster, and much less memory per thread. Code that is
 * cached runs as this user, so no other user may write to the folder; Node's default is in the shared temporary folder.
 */
if (!process.env['NODE_COMPILE_CACHE'] && process.argv.length === 2) {
  const { makePrivateFolder } = await import('./tools/files/private-files.ts');
  const { DEFAULT_DATA_DIR } = await import('./config/data-folder.ts');
  const folder = path.resolve(process.env['DEPOSIT_DATA_DIR'] || DEFAULT_DATA_DIR, 'compile-cache');
  if (makePrivateFolder(folder)) {
    enableCompileCache(folder);
    process.env['NODE_COMPILE_CACHE'] = folder; // for the program that follows, and for its worker threads
  }
}

/*
 * Some memory can only be limited before the first line of a program runs. Without a known cache, the compiler that
 * strips the types of this file remains in memory (17 MiB). The same holds for the heap and the malloc arenas of threads.
 * So the process replaces itself with its program, under the same process id. What is garbage is found soon: in a large
 * young generation, or when the old one has grown by half.
 */
const SEMI_SPACE_OPTION = '--max-semi-space-size';
const HEAP_OPTIONS = [`${SEMI_SPACE_OPTION}=16`, '--heap-growing-percent=50'];
const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
if (process.execve && !given.some((options) => options.includes(SEMI_SPACE_OPTION))) {
  process.env['MALLOC_ARENA_MAX'] ??= '2';
  const args = [...HEAP_OPTIONS, ...process.execArgv, ...process.argv.slice(1)];
  const { clock } = await import('./tools/clock.ts');
  await clock.nextTurn(); // a signal that came before is handled: the new program would not get it
  try {
    process.execve(process.execPath, [process.execPath, ...args], process.env);
  } catch {
    // Not permitted: the process continues with more memory.
  }
}

v8.setFlagsFromString(`${SEMI_SPACE_OPTION}=0`); // it would override the limits of threads

const { main } = await import('./service/process/process.ts');
const { exitSoon } = await import('./tools/terminal/exit-soon.ts');
const running = main(process.argv.slice(2)); // once this returns, the program handles signals itself
for (const signal of SIGNALS) process.off(signal, endAtOnce);
process.exitCode = await running;
exitSoon();
