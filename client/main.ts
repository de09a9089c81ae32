#!/usr/bin/env node

const MIN_NODE = 24;

if (Number(process.versions.node.split('.')[0]) < MIN_NODE) {
  process.stderr.write(`deposit needs Node ${MIN_NODE} or newer, this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  // Imported dynamically: an older Node cannot even parse it.
  const { cacheCompiledCode } = await import('./compile-cache.ts');
  cacheCompiledCode();
  const { main } = await import('./command-line.ts');
  process.exitCode = await main(process.argv.slice(2));
}
