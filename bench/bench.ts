import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readArguments } from '../src/operations/command/arguments.ts';
import { refused, runCommand } from '../src/operations/command/command.ts';
import { parseDuration } from './frame/duration-option.ts';
import type { Goal } from './frame/goal.ts';
import { describeMachine } from './frame/machine.ts';
import { goalsNamed, measureGoals } from './frame/measured-goals.ts';
import { pairsIn } from './frame/pairs-option.ts';
import { addedSyncTime, runWithSlowSyncs } from './frame/slow-syncs.ts';
import { everyGoal } from './goals/every-goal.ts';
import { everyNodeGoal } from './nodes/every-node-goal.ts';
import { everyPeerGoal } from './peer/every-peer-goal.ts';

const hostGoals = [...everyGoal, ...everyPeerGoal(cacheFolder())];

const HELP = `Measures how fast the service is against what is possible on this machine, both sides in one interleaved run.

  npm run bench -- [G1 … G17 | P1 P2 | all | N1 … N4 | nodes] [--pairs N] [--slow-fsync 2ms] [--json FILE] [--offline]

${[...hostGoals, ...everyNodeGoal].map(({ id, what }) => `  ${id.padEnd(4)} ${what}`).join('\n')}

all:           G1 to G17, P1 and P2
P1 and P2:     beside swh.deposit and the loader of Software Heritage, in the versions of bench/peer/python/requirements.txt,
               which are installed once from PyPI. The server runs under gunicorn with two workers, on PostgreSQL, with the
               cheapest password hasher; its storage is in memory, and its scheduler does nothing: unlike the service it
               neither checks nor loads what it accepts. Without PostgreSQL or PyPI they are not measured.
nodes:         N1 to N4: several nodes on the doubles of EventStoreDB and S3; on a MinIO, if MINIO_BIN names one or minio is
               on the path; and on the server that EVENTSTORE_URL names, whose log is filled with deposits

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
  const goals = goalsIn(positionals);
  const pairs = pairsIn(values.pairs);
  using temporary = mkdtempDisposableSync(path.join(tmpdir(), 'deposit-bench-'));
  const folder = temporary.path;
  const slower = values['slow-fsync'] === undefined ? 0 : parseDuration(values['slow-fsync']);
  if (slower > 0 && addedSyncTime() === 0) return await runWithSlowSyncs(slower, folder);
  const machine = describeMachine(folder);
  if (machine.syncTime < addedSyncTime())
    throw refused(
      'SYNCS_NOT_SLOWER',
      `A sync takes ${machine.syncTime.toFixed(2)} ms: it was not made slower.`,
    );
  const options = { pairs, folder, cache: cacheFolder(), offline: values.offline };
  return await measureGoals(goals, machine, options, values.json);
});

function goalsIn(names: readonly string[]): readonly Goal[] {
  if (names.includes('nodes')) return everyNodeGoal;
  return names.includes('all') ? hostGoals : goalsNamed(names, [...hostGoals, ...everyNodeGoal]);
}

/** Returns the folder of what is downloaded or generated once for all runs. */
function cacheFolder(): string {
  return path.join(tmpdir(), 'deposit-bench-cache');
}
