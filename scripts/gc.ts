import type { Config } from '../src/config/config.ts';
import { readConfig } from '../src/config/read-config.ts';
import { pluralize } from '../src/domain/description.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import { ObjectStoreUnavailable } from '../src/object-store/object-store.ts';
import { duration, readOptions } from '../src/operations/command/arguments.ts';
import { refused, runCommand, stopSignal, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say, warn } from '../src/operations/command/output.ts';
import { openServiceLog, openServiceStore, serviceOn } from '../src/operations/command/service-engines.ts';
import { type OrphanSearch, Orphans } from '../src/operations/gc/orphans.ts';
import { assertExists } from '../src/service/backends/backend-not-found.ts';
import { lockDataFolder, lockDataFolderAlone } from '../src/service/operator-port/data-directory-lock.ts';
import { clock } from '../src/tools/clock.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';

const HELP = `Finds objects that no event names: leftovers of failed requests, and parts of interrupted uploads.

Usage: deposit-service gc [--remove [--more-than-a-tenth]] [--older-than 24h] [--json]

--remove             remove them; without it, gc only reports (--dry-run, the default)
--older-than         only what was stored longer ago, as in 90m or 30d; 24h by default. Choose a period longer than your
                     slowest upload. Below 1h, the service must be stopped while gc runs, and the log must be embedded
--more-than-a-tenth  remove them even if they are more than a tenth of all objects

Objects that an event names are never removed. Nothing is removed if the store does not list all of them, or is not ready
before or after the list.
`;

/** Minimum age of an object that running services can no longer be about to reference, in milliseconds. */
const SAFE_WHILE_RUNNING_MS = 3_600_000;

await runCommand(
  HELP,
  async (args) => {
    const values = readOptions(args, {
      remove: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
      'more-than-a-tenth': { type: 'boolean', default: false },
      'older-than': { type: 'string' },
      json: { type: 'boolean' },
    });
    if (values.remove && values['dry-run'])
      throw new UsageError('--remove cannot be combined with --dry-run.');
    if (values['more-than-a-tenth'] && !values.remove)
      throw new UsageError('--more-than-a-tenth needs --remove.');
    const config = readConfig();
    const age = duration(values['older-than'] ?? '24h');
    assertExists('data folder', config.dataDir); // with a mistyped one, the service could not be asked for its engines

    await using log = await openServiceLog(config, { readOnly: true });
    await using store = await openServiceStore(config);
    using _alone = await lockFor(config, age);
    using bars = new ProgressBars();
    const storedBefore = new Date(clock.now() - age);
    const progress = (step: string, done: number): void => bars.at(step, done);
    const signal = stopSignal(
      `Stopped. Run the same command again${values.remove ? ' to remove the rest' : ''}.`,
    );
    const search = { log, store, storedBefore, progress, signal };
    using orphans = await Orphans.find(search);
    const { objects, bytes, listed } = orphans.totals;
    if (objects > 0) await assertNotEmpty(log);
    if (values.remove && !values['more-than-a-tenth']) assertFew(objects, listed);
    const uploads = await store.sweepIncoming(storedBefore, { dryRun: !values.remove });
    const failed = values.remove ? await removeAll(orphans, search, bars) : { objects: 0, bytes: 0 };
    bars.end();
    if (!values.remove && !values.json)
      for (const { sha256, length } of orphans) say(`${sha256}  ${pluralize(length, 'byte')}`);
    const done = { objects: objects - failed.objects, bytes: bytes - failed.bytes, uploads };
    if (values.json) say(jsonLine({ ...done, removed: Boolean(values.remove), failed: failed.objects }));
    else {
      const what = `${pluralize(done.objects, 'object')} that no event names (${pluralize(done.bytes, 'byte')}), ${pluralize(uploads, 'part')} of interrupted uploads`;
      say(values.remove ? `Removed ${what}.` : `Found ${what}; --remove removes them.`);
    }
    return failed.objects > 0 ? 1 : 0;
  },
  { mayBeBare: true },
);

/** Locks the data folder if the age includes recent objects, so that no running service is about to reference one. */
async function lockFor(config: Config, age: number): Promise<Disposable | undefined> {
  const isShared = config.eventLog.kind !== 'sqlite';
  const service = await serviceOn(config);
  if (age < SAFE_WHILE_RUNNING_MS && (service || isShared)) {
    const when = service ? 'while a service runs' : 'where the event log is not embedded';
    throw new UsageError(
      `--older-than must be at least 1h ${when}: a service may be about to name new objects.`,
    );
  }
  if (service) return undefined;
  if (age < SAFE_WHILE_RUNNING_MS) return lockDataFolder(config);
  // Fails while a service runs without answering, whose backends are unknown; one may start in the meantime.
  lockDataFolderAlone(config.dataDir)[Symbol.dispose]();
  return undefined;
}

/** Refuses an empty log: the registration of a client precedes every deposit. */
async function assertNotEmpty(log: EventLog): Promise<void> {
  if ((await log.head()) !== undefined) return;
  throw refused(
    'OTHER_ENGINE',
    'The event log is empty, so it does not belong to these objects: check DEPOSIT_EVENT_LOG and DEPOSIT_ARCHIVE_STORE.',
  );
}

/** Refuses if most objects are orphans: then the log probably belongs to another store. */
function assertFew(objects: number, listed: number): void {
  if (objects * 10 <= listed) return;
  throw refused(
    'MANY_ORPHANS',
    `No event names ${objects.toLocaleString('en')} of ${pluralize(listed, 'object')}, which is more than a tenth: nothing is removed. Make sure that the log is that of this store; then --more-than-a-tenth removes them.`,
  );
}

/**
 * Removes the orphans, and names each that the store refuses to remove. Resolves to their total.
 * @throws {ObjectStoreUnavailable} the store is away
 */
async function removeAll(
  orphans: Orphans,
  { store, storedBefore, signal }: OrphanSearch,
  bars: ProgressBars,
): Promise<Pick<Orphans['totals'], 'objects' | 'bytes'>> {
  const { objects } = orphans.totals;
  const failed = { objects: 0, bytes: 0 };
  let tried = 0;
  for (const { sha256, length } of orphans) {
    signal.throwIfAborted();
    try {
      await store.remove(sha256, { storedBefore });
    } catch (error) {
      if (!(error instanceof ObjectStoreUnavailable)) throw error;
      await store.ready();
      warn(`The object ${sha256} was not removed: ${error.message}`);
      failed.objects += 1;
      failed.bytes += length;
    }
    bars.at('objects removed', (tried += 1), objects);
  }
  return failed;
}
