import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../src/config.ts';
import { readOptions, runCommand, say } from './command.ts';
import { openServiceLog, openServiceStore } from './service-engines.ts';
import { statusFacts } from './status-facts.ts';
import { statusScreen } from './status-screen.ts';

const HELP = `Shows how the service on this data folder is, on one screen.

  npm run status -- [--watch] [--json]

Each view and reactor with its lag (in events, counted up to 1,000, and the age of the oldest that waits), what reactors
have done since the start, their rate and last error, deposits by state, the oldest on its way in each, notifications,
parked events, and what is stored. Works beside the service, and without it. --watch: again every two seconds until
Ctrl-C; with --json an object a line. Exit codes: 0 shown, 1 failed, 2 wrong usage.
`;

/** Between two looks, in milliseconds. */
const [WATCH, FIRST_RATE] = [2000, 500];

await runCommand(
  HELP,
  async (args) => {
    const values = readOptions(args, { watch: { type: 'boolean' }, json: { type: 'boolean' } });
    const config = readConfig();
    await using log = await openServiceLog(config);
    await using store = await openServiceStore(config);
    const look = () => statusFacts(config, log, store);
    let before = await look();
    if (values.json && !values.watch) return say(JSON.stringify(before));
    if (before.service) await pause(FIRST_RATE);
    for (;;) {
      const facts = await look();
      if (values.json) say(JSON.stringify(facts));
      else {
        if (values.watch && process.stdout.isTTY) process.stdout.write('\x1b[2J\x1b[H');
        process.stdout.write(statusScreen(facts, before));
      }
      if (!values.watch) return;
      before = facts;
      await pause(WATCH);
    }
  },
  { mayBeBare: true },
);
