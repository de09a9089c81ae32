import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readArguments, refused, runCommand, say, UsageError } from '../scripts/command.ts';
import { parseDuration } from './frame/duration-option.ts';
import { describeMachine, machineText } from './frame/machine.ts';
import { pairsIn } from './frame/pairs-option.ts';
import { runGoals } from './frame/run-goals.ts';
import { addedSyncTime, runWithSlowSyncs } from './frame/slow-syncs.ts';
import { everyGoal } from './goals/every-goal.ts';

const HELP = `Measures how fast the service is against what is possible on this machine, both sides in one interleaved run.

  npm run bench -- [G1 … G14 | all] [--pairs N] [--slow-fsync 2ms] [--json FILE] [--offline]

${everyGoal.map(({ id, what }) => `  ${id.padEnd(4)} ${what}`).join('\n')}

--pairs:       how often both sides are measured, one after the other (5)
--slow-fsync:  adds this to each fsync and fdatasync of both sides; needs cc or strace
--json:        writes what was found into this file, too
--offline:     archives are made from node_modules instead of what npm and apt fetch once into ${cacheFolder()}

Only ratios within one run mean something: other work on the machine changes both sides alike.
Exit codes: 0 every goal that was measured holds, 1 one does not, or failed, 2 wrong usage.
`;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    pairs: { type: 'string', default: '5' },
    'slow-fsync': { type: 'string' },
    json: { type: 'string' },
    offline: { type: 'boolean', default: false },
  });
  const goals = chosen(positionals);
  const pairs = pairsIn(values.pairs);
  const folder = mkdtempSync(path.join(tmpdir(), 'deposit-bench-'));
  try {
    const slower = values['slow-fsync'] === undefined ? 0 : parseDuration(values['slow-fsync']);
    if (slower > 0 && addedSyncTime() === 0) return await runWithSlowSyncs(slower, folder);
    const machine = describeMachine(folder);
    if (machine.syncTime < addedSyncTime())
      throw refused(
        'SYNCS_NOT_SLOWER',
        `A sync takes ${machine.syncTime.toFixed(2)} ms: it was not made slower.`,
      );
    say(machineText(machine));
    const options = { pairs, folder, cache: cacheFolder(), offline: values.offline };
    const found = await runGoals(goals, options);
    if (values.json !== undefined)
      writeFileSync(values.json, `${JSON.stringify({ machine, pairs, found }, null, 2)}\n`);
    return found.every(({ outcome }) => outcome !== 'missed' && outcome !== 'failed') ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function chosen(names: readonly string[]) {
  if (names.length === 0) throw new UsageError('Name goals, or all.');
  if (names.includes('all')) return everyGoal;
  const wanted = names.map((name) => name.toUpperCase());
  const unknown = wanted.filter((name) => !everyGoal.some(({ id }) => id === name));
  if (unknown.length > 0) throw new UsageError(`There is no goal ${unknown.join()}: G1 to G14, or all.`);
  return everyGoal.filter(({ id }) => wanted.includes(id));
}

/** What is fetched or made once for all runs. */
function cacheFolder(): string {
  return path.join(tmpdir(), 'deposit-bench-cache');
}
