#!/usr/bin/env node
import module from 'node:module';

const OLDEST = 24;

if (Number(process.versions.node.split('.')[0]) < OLDEST) {
  process.stderr.write(`deposit needs Node ${OLDEST} or newer, this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  module.enableCompileCache(); // the next start is quicker
  // Only now: an older Node could not even read what follows.
  const { main } = await import('./command-line.ts');
  process.exitCode = await main(process.argv.slice(2));
}
