#!/usr/bin/env node
import module from 'node:module';

const MIN_NODE = 24;

if (Number(process.versions.node.split('.')[0]) < MIN_NODE) {
  process.stderr.write(`deposit needs Node ${MIN_NODE} or newer, this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  module.enableCompileCache(); // speeds up the next start
  // Imported dynamically: an older Node cannot even parse it.
  const { main } = await import('./command-line.ts');
  process.exitCode = await main(process.argv.slice(2));
}
