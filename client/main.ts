#!/usr/bin/env node

/** The first release with all that the client uses. */
const [MAJOR, MINOR] = [20, 15];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < MAJOR || (major === MAJOR && minor < MINOR)) {
  process.stderr.write(`deposit needs Node ${MAJOR}.${MINOR} or newer, this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else void start();

async function start(): Promise<void> {
  // Imported dynamically: an older Node cannot even parse them.
  const { cacheCompiledCode } = await import('./compile-cache.ts');
  cacheCompiledCode();
  const { main } = await import('./command-line.ts');
  process.exitCode = await main(process.argv.slice(2));
}
