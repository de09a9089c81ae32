import { existsSync, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readArguments } from '../src/operations/command/arguments.ts';
import { runCommand, UsageError } from '../src/operations/command/command.ts';
import { depositsAgainst, MEASURED_ENGINES } from './against/deposits.ts';
import { describeMachine } from './frame/machine.ts';
import { measureGoals } from './frame/measured-goals.ts';
import { pairsIn } from './frame/pairs-option.ts';

const HELP = `Measures deposits from request to done against another release, in one interleaved run.

  node bench/against.ts FOLDER [--engine embedded | eventstoredb | minio] [--clients N,N] [--pairs N] [--json FILE]

FOLDER:    a checkout of the other release, with its node_modules
--engine:  embedded (default); eventstoredb: the log is in the double of the tests, one for each release; minio: objects
           are in a real MinIO (MINIO_BIN, or minio on the path), a bucket for each release
--clients: how many clients deposit at the same time (8,32)

Both releases first take 2,000 deposits that do not count. A rate is that of requests with a zip of one file, from the first
one sent to the last one done; the CPU time is that of all threads of the service.
Exit codes: 0 every goal holds, 1 one does not, or failed, 2 wrong usage.
`;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    engine: { type: 'string', default: 'embedded' },
    clients: { type: 'string', default: '8,32' },
    pairs: { type: 'string', default: '5' },
    json: { type: 'string' },
  });
  const [other] = positionals;
  if (other === undefined || !existsSync(path.join(other, 'src', 'main.ts')))
    throw new UsageError('Name a checkout of the other release.');
  const engine = MEASURED_ENGINES.find((name) => name === values.engine);
  if (engine === undefined)
    throw new UsageError(`There is no engine ${values.engine}: ${MEASURED_ENGINES.join(', ')}.`);
  using temporary = mkdtempDisposableSync(path.join(tmpdir(), 'deposit-bench-'));
  const folder = temporary.path;
  const options = { pairs: pairsIn(values.pairs), folder, cache: folder, offline: true };
  const goals = values.clients.split(',').map((clients) => depositsAgainst(other, engine, Number(clients)));
  return await measureGoals(goals, describeMachine(folder), options, values.json);
});
