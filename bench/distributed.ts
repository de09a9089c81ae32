import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readArguments, runCommand, say } from '../scripts/command.ts';
import { endToEnd } from './distributed/end-to-end.ts';
import { logAdapter } from './distributed/log-adapter.ts';
import { storeAdapter } from './distributed/store-adapter.ts';
import { describeMachine, machineText } from './frame/machine.ts';
import { pairsIn } from './frame/pairs-option.ts';
import { runGoals } from './frame/run-goals.ts';

const GOALS = [logAdapter, storeAdapter, endToEnd];
const HELP = `Measures what the distributed engines cost, against their doubles of the tests, in interleaved runs.

  node bench/distributed.ts all | ${GOALS.map(({ id }) => id).join(' | ')} [--pairs N] [--json FILE]

${GOALS.map(({ id, what }) => `  ${id.padEnd(4)} ${what}`).join('\n')}

Exit codes: 0 every goal that was measured holds, 1 one does not, or failed, 2 wrong usage.
`;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    pairs: { type: 'string', default: '5' },
    json: { type: 'string' },
  });
  const wanted = positionals.map((name) => name.toUpperCase());
  const goals = GOALS.filter(({ id }) => wanted.includes(id) || wanted.includes('ALL'));
  const pairs = pairsIn(values.pairs);
  const folder = mkdtempSync(path.join(tmpdir(), 'deposit-bench-'));
  try {
    const machine = describeMachine(folder);
    say(machineText(machine));
    const options = { pairs, folder, cache: path.join(tmpdir(), 'deposit-bench-cache'), offline: false };
    const found = await runGoals(goals, options);
    if (values.json !== undefined)
      writeFileSync(values.json, `${JSON.stringify({ machine, pairs, found }, null, 2)}\n`);
    return found.every(({ outcome }) => outcome !== 'missed' && outcome !== 'failed') ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
