import { createInterface } from 'node:readline';
import { runLine } from './commands.ts';
import { EventStoreDbDouble } from './eventstoredb-double.ts';
import { readMainOptions, USAGE } from './main-options.ts';
import { writeDump } from './storage/log-dump.ts';

/** The double in a process of its own, so that several services can share it. */
const { help, load, dump, double: options } = readMainOptions(process.argv.slice(2));
if (help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const double = await EventStoreDbDouble.start({ ...options, ...(load !== undefined && { load }) });
const reply = (text: string) => void process.stdout.write(`${text}\n`);
reply(double.ports.join(' '));
for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() !== '') await runLine(double, line, reply);
}
if (dump !== undefined) await writeDump(double.log, dump);
await double[Symbol.asyncDispose]();
