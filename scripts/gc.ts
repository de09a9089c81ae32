import { tmpdir } from 'node:os';
import { readConfig } from '../src/config.ts';
import { openLog, openStore } from '../src/engines.ts';
import { RunningService } from '../src/operator/running-service.ts';
import { Orphans } from '../src/orphans.ts';
import { readArguments, runCommand, say, UsageError } from './command.ts';
import { duration } from './duration.ts';
import { ProgressBars } from './progress-bar.ts';

const HELP = `Finds what no event names: objects left by requests that failed, and parts of uploads that were cut off.

  npm run gc -- [--remove] [--older-than 24h] [--json]

Without --remove it only tells (--dry-run, the default). --older-than: only what was stored longer ago, as in 90m,
24h or 30d. It must be longer than any upload takes from its first byte to its answer, for what is stored may be
named until then; beside a running service no less than 1h. Objects that an event names are never removed.
Exit codes: 0 done, 1 failed, 2 wrong usage.
`;

const LEAST_BESIDE_A_SERVICE = 3_600_000;

await runCommand(
  HELP,
  async (args) => {
    const { values } = readArguments(args, {
      remove: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
      'older-than': { type: 'string' },
      json: { type: 'boolean' },
    });
    if (values.remove && values['dry-run']) throw new UsageError('--remove or --dry-run, not both.');
    const config = readConfig();
    const age = duration(values['older-than'] ?? '24h');
    const isShared =
      config.eventLog.kind !== 'sqlite' || (await RunningService.find(config.dataDir)) !== undefined;
    if (age < LEAST_BESIDE_A_SERVICE && isShared)
      throw new UsageError(
        '--older-than must be 1h at least while a service runs: it may be about to name new objects.',
      );

    await using log = await openLog(config);
    await using store = await openStore(config);
    using bars = new ProgressBars();
    const storedBefore = new Date(Date.now() - age);
    const progress = (step: string, done: number): void => bars.at(step, done);
    using orphans = await Orphans.find({ log, store, storedBefore, temporaryFolder: tmpdir(), progress });
    const { objects, bytes } = orphans.totals;
    const uploads = await store.sweepIncoming(storedBefore, { dryRun: !values.remove });
    if (values.remove) {
      let removed = 0;
      for (const { sha256 } of orphans) {
        await store.remove(sha256, { storedBefore });
        bars.at('objects removed', (removed += 1), objects);
      }
    } else if (!values.json) for (const { sha256, length } of orphans) say(`${sha256}  ${length} bytes`);
    if (values.json) say(JSON.stringify({ objects, bytes, uploads, removed: Boolean(values.remove) }));
    else {
      const what = `${objects} objects that no event names (${bytes} bytes), ${uploads} parts of cut off uploads`;
      say(values.remove ? `Removed ${what}.` : `Found ${what}; --remove removes them.`);
    }
  },
  { mayBeBare: true },
);
