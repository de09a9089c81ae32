// JavaScript: read before the program by a Node that may know no types.
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
const oldest = Number(engines.node.replace('>=', ''));

if (Number(process.versions.node.split('.')[0]) < oldest) {
  process.stderr.write(
    `The service needs Node ${oldest} or newer, this is ${process.versions.node}: install the one that the project brings, by npm ci without --omit=optional, or a newer one.\n`,
  );
  process.exit(2);
}
