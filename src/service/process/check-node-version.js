// JavaScript: read before the program by a Node that may know no types.
const OLDEST = 24;

if (Number(process.versions.node.split('.')[0]) < OLDEST) {
  process.stderr.write(
    `The service needs Node ${OLDEST} or newer, this is ${process.versions.node}: install the one that the project brings, by npm ci without --omit=optional, or a newer one.\n`,
  );
  process.exit(2);
}
