import type { ArchiveStoreConfig, EventLogConfig } from '../src/config/config.ts';
import { archiveStore, eventLog } from '../src/config/parsers.ts';
import { BadConfig, readConfig, readConfigWith } from '../src/config/read-config.ts';
import { objectsReferenced } from '../src/deposits/objects-in-log.ts';
import { pluralize } from '../src/domain/description.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import { isComplete, reportCopied } from '../src/operations/backup/copied-objects.ts';
import { readOptions } from '../src/operations/command/arguments.ts';
import { refused, runCommand, stopSignal, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say } from '../src/operations/command/output.ts';
import { onTarget } from '../src/operations/copy/copy-target.ts';
import { verifyCopy } from '../src/operations/copy/copy-verification.ts';
import { type CopyOptions, copyLog } from '../src/operations/copy/log-copy.ts';
import { copyStore, type StoreCopied } from '../src/operations/copy/store-copy.ts';
import { BackendNotFound } from '../src/service/backends/backend-not-found.ts';
import { storePlace } from '../src/service/backends/engine-places.ts';
import { openStoreToRead } from '../src/service/backends/open-audits.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { openStore } from '../src/service/backends/open-store.ts';
import { assertSameId, assertSameStore } from '../src/service/backends/store-binding.ts';
import {
  assertNoOtherCopy,
  assertNoUnfinishedCopy,
  beginCopy,
  beginCopyIntoNew,
  endCopy,
} from '../src/service/backends/unfinished-copy.ts';
import { lockLog } from '../src/service/operator-port/data-directory-lock.ts';
import { describeFsError } from '../src/tools/files/describe-fs-error.ts';
import { files } from '../src/tools/files.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';
import { snapshotObjects } from '../src/views/snapshots/snapshot-records.ts';

const HELP = `Copies the event log or the objects of a service from one engine to another, and verifies the copy.

Usage: deposit-service migrate --from sqlite:FILE --to 'esdb://USER:PASSWORD@HOST:2113?tls=true' [--json]
       deposit-service migrate --from file:FOLDER --to 's3://HOST:9000/BUCKET?tls=true' [--log PLACE] [--verify] [--json]

--from, --to  the event log: sqlite:FILE, esdb://… or kurrentdb://…; the objects: file:FOLDER or s3://…; @FILE reads the
              place from a file, so that no password is in the list of processes
--log         event log whose objects must be in the target at the end; by default that of the settings
--verify      read every byte of the target again and replace corrupt objects

Every event keeps its id, contents, stream, revision and place in the order of all. At the end both logs are compared event
by event, and every hash is recomputed. Objects that the target has are not copied again. Missing and corrupt objects are
named, and the others are copied. The keys of an S3 store come from DEPOSIT_S3_ACCESS_KEY and DEPOSIT_S3_SECRET_KEY or
their …_FILE; from s3 to s3 both sides have the same keys. Log and objects keep the id by which they belong together. A log
that does not belong to the objects is refused, and so is a target that belongs to another log.

The target must be empty or contain what an earlier run wrote. No service may use a target log. To resume an interrupted
run, repeat the same command.
No service starts on a log until a run has finished during which the source did not change.
A move with little downtime:
  1. Run it for the log and for the objects while the service runs. This takes most of the time.
  2. Stop the service.
  3. Run both again: they copy what is new.
  4. Set DEPOSIT_EVENT_LOG and DEPOSIT_ARCHIVE_STORE to the new places.
  5. Start the service. Each node builds its views again from the new log.

Exit codes: 0 done, 1 refused or failed, an object that an event names could not be copied, or the source was not ready
before or after its objects were listed, 2 wrong usage.
`;

await runCommand(HELP, async (args) => {
  const values = readOptions(args, {
    from: { type: 'string' },
    to: { type: 'string' },
    log: { type: 'string' },
    verify: { type: 'boolean' },
    json: { type: 'boolean' },
  });
  const [from, to] = [placeOf('--from', values.from), placeOf('--to', values.to)];
  if (JSON.stringify(from) === JSON.stringify(to))
    throw new UsageError('--from and --to are the same place.');
  const signal = stopSignal('Stopped. The target is consistent; run the same command again to resume.');
  if ('eventLog' in from && 'eventLog' in to) {
    if (values.verify) throw new UsageError('--verify applies to objects; events are always compared.');
    if (values.log !== undefined) throw new UsageError('--log applies to objects: it names their event log.');
    return report(await migrateLog(from.eventLog, to.eventLog, signal), values.json);
  }
  if ('archiveStore' in from && 'archiveStore' in to) {
    const place = values.log === undefined ? readConfig() : placeOf('--log', values.log);
    if (!('eventLog' in place)) throw new UsageError('--log must be an event log.');
    const opening = openLog(place, { readOnly: true, mustExist: true });
    await using log = await (values.log === undefined ? opening : opened('--log', opening));
    return report(await migrateStore(from, to, { log, signal, verify: values.verify ?? false }), values.json);
  }
  throw new UsageError('--from and --to must both be event logs, or both be places of objects.');
});

type LogPlace = { readonly eventLog: EventLogConfig };
type StorePlace = { readonly archiveStore: ArchiveStoreConfig; readonly dataDir: string };

type Outcome = {
  readonly facts: { readonly sourceMoved: boolean; readonly [name: string]: unknown };
  /** The outcome, in a sentence or two. */
  readonly text: string;
  readonly objects?: Pick<StoreCopied, 'failed' | 'notReady'>;
};

async function migrateLog(from: EventLogConfig, to: EventLogConfig, signal: AbortSignal): Promise<Outcome> {
  await using source = await opened(
    '--from',
    openLog({ eventLog: from }, { readOnly: true, mustExist: true }),
  );
  await assertNoUnfinishedCopy(from);
  using _only = to.kind === 'sqlite' ? lockLog(to.file) : undefined;
  await beginCopyIntoNew(to, 'migrate');
  await using target = await opened('--to', openLog({ eventLog: to }));
  await assertNoOtherCopy(to, 'migrate');
  using bars = new ProgressBars();
  const progress: CopyOptions['progress'] = (step, ...counts) => bars.at(`events ${step}`, ...counts);
  const { found, copied, upTo } = await copyLog(source, target, {
    engine: to.kind,
    onBeforeAppend: () => beginCopy(to, 'migrate'),
    progress,
    signal,
  });
  const total = found + copied;
  const all = [source.readAll({ signal }), target.readAll({ signal })] as const;
  await verifyCopy(...all, { total, progress: (events) => bars.at('events verified', events, total) });
  const sourceMoved = (await source.head()) !== upTo;
  if (!sourceMoved) await endCopy(to);
  const facts = { events: total, copied, sourceMoved };
  const text = `Copied ${pluralize(copied, 'event')}. All ${total} are the same in both logs, and every hash is correct.`;
  return { facts, text: total === 0 ? 'The source has no events.' : text };
}

type StoreOptions = { readonly log: EventLog; readonly signal: AbortSignal; readonly verify: boolean };

async function migrateStore(
  from: StorePlace,
  to: StorePlace,
  { log, signal, verify }: StoreOptions,
): Promise<Outcome> {
  await using source = await opened('--from', openStoreToRead(from));
  await assertSameStore(log, source);
  const into = `The target ${storePlace(to.archiveStore)}`;
  await using target = await onTarget(openStore(to), into);
  const [id, there] = [await source.id(), await target.id()];
  if (there !== undefined) assertSameId(id, there);
  using bars = new ProgressBars();
  const { failed, notReady, cameMeanwhile, ...counts } = await copyStore(source, target, {
    into,
    named: objectsReferenced(log, { signal }),
    leftOut: await snapshotObjects(log),
    verify,
    signal,
    progress: (step, objects, total) => bars.at(`objects ${step}`, objects, total),
  });
  if (id !== undefined && isComplete({ failed, notReady })) await onTarget(target.setId(id), into);
  const { objects, bytes, copied, repaired } = counts;
  const verified = verify
    ? ` All were read again; ${repaired} ${repaired === 1 ? 'was corrupt and has been' : 'were corrupt and have been'} replaced.`
    : '';
  return {
    facts: { ...counts, failed, notReady, sourceMoved: cameMeanwhile > 0 },
    text:
      objects + failed.length === 0
        ? 'The source has no objects.'
        : `Copied ${pluralize(copied, 'object')}. The target holds ${objects} of the source, ${pluralize(bytes, 'byte')}.${verified}`,
    objects: { failed, notReady },
  };
}

function report({ facts, text, objects }: Outcome, json = false): number {
  say(json ? jsonLine(facts) : text);
  if (facts.sourceMoved && !json) {
    say(
      'The source has changed meanwhile: run it again with the service stopped before switching to the target.',
    );
  }
  return objects ? reportCopied(objects) : 0;
}

function placeOf(option: string, given: string | undefined): LogPlace | StorePlace {
  if (!given) throw new UsageError(`${option} is missing.`);
  try {
    const text = given.startsWith('@') ? files.readFileSync(given.slice(1), 'utf8').trim() : given;
    if (/^(sqlite|esdb|kurrentdb)/.test(text)) return { eventLog: eventLog(text) as EventLogConfig }; // null only for no text
    if (/^(file|s3):/.test(text)) return parsedStore(text);
    throw new Error('must begin with sqlite:, esdb://, kurrentdb://, file: or s3://');
  } catch (error) {
    if (error instanceof BadConfig) throw error;
    const unread = describeFsError(error);
    throw new UsageError(
      unread === undefined ? `${option} ${(error as Error).message}.` : `${option}: ${unread}`,
    );
  }
}

function parsedStore(text: string): StorePlace {
  const store = archiveStore(text);
  if (store?.kind === 'file') return { archiveStore: store, dataDir: store.folder };
  const { archiveStore: withKeys, dataDir } = readConfigWith({ DEPOSIT_ARCHIVE_STORE: text });
  return { archiveStore: withKeys, dataDir };
}

async function opened<Backend>(option: string, backend: Promise<Backend>): Promise<Backend> {
  try {
    return await backend;
  } catch (error) {
    if (error instanceof BackendNotFound)
      throw refused(error.code, `${error.missing} ${option} must name an existing one.`);
    // Only the backend knows the form of its connection string.
    throw error instanceof TypeError ? new UsageError(`${option}: ${error.message}`) : error;
  }
}
