import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readArguments } from '../src/operations/command/arguments.ts';
import { runCommand } from '../src/operations/command/command.ts';
import { logAdapter } from './distributed/log-adapter.ts';
import { storeAdapter } from './distributed/store-adapter.ts';
import { describeMachine } from './frame/machine.ts';
import { goalsNamed, measureGoals } from './frame/measured-goals.ts';
import { pairsIn } from './frame/pairs-option.ts';

const GOALS = [logAdapter, storeAdapter];
const HELP = `Measures what the adapters of the distributed engines cost, against the doubles of the tests, in interleaved runs. What
several nodes do is measured by "npm run bench -- nodes".

  node bench/distributed.ts all | ${GOALS.map(({ id }) => id).join(' | ')} [--pairs N] [--json FILE]

${GOALS.map(({ id, what }) => `  ${id.padEnd(4)} ${what}`).join('\n')}

Exit codes: 0 every goal that was measured holds, 1 one does not, or failed, 2 wrong usage.
`;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    pairs: { type: 'string', default: '5' },
    json: { type: 'string' },
  });
  const goals = goalsNamed(positionals, GOALS);
  const pairs = pairsIn(values.pairs);
  using temporary = mkdtempDisposableSync(path.join(tmpdir(), 'deposit-bench-'));
  const folder = temporary.path;
  const options = { pairs, folder, cache: path.join(tmpdir(), 'deposit-bench-cache'), offline: false };
  return await measureGoals(goals, describeMachine(folder), options, values.json);
});
