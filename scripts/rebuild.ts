import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { everyView } from '../projections/every-view.ts';
import { readConfig } from '../src/config/read-config.ts';
import { pluralize } from '../src/domain/description.ts';
import type { Position } from '../src/event-log/event-log.ts';
import { estimateTotal } from '../src/event-log/progress-estimate.ts';
import { readArguments } from '../src/operations/command/arguments.ts';
import { runCommand, stopSignal, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say } from '../src/operations/command/output.ts';
import { openServiceLog, serviceOn } from '../src/operations/command/service-engines.ts';
import { viewDirectory } from '../src/service/backends/view-directory.ts';
import type { ControlClient } from '../src/service/operator-port/control-client.ts';
import { lockDataFolder } from '../src/service/operator-port/data-directory-lock.ts';
import { clock } from '../src/tools/clock.ts';
import { lockFile } from '../src/tools/files/lock-file.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';
import { Rebuild } from '../src/views/rebuild.ts';
import type { ViewDifference } from '../src/views/view-difference.ts';

const names = everyView.map(({ name }) => name);
const HELP = `Builds all views again from the event log next to those in use, compares the named ones, then switches in one step.

Usage: deposit-service rebuild VIEW… | --all [--check] [--json]

Views: ${names.join(', ')}
--check  only compare, and list the differences; nothing is switched
--json   print the result as JSON

Runs with and without the service, which serves meanwhile. Views that a running service of an older release does not have
are used from the next start of this release on. An interrupted rebuild is resumed. The views that were in use
before are retained until the next rebuild.

Exit codes: 0 done (--check: no differences), 1 failed (--check: differences), 2 wrong usage.
`;

/** Maximum number of differences that are listed; further ones are only counted. */
const MAX_LISTED = 100;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    all: { type: 'boolean' },
    check: { type: 'boolean' },
    json: { type: 'boolean' },
  });
  const unknown = positionals.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new UsageError(`Unknown view ${unknown.join()}. Views: ${names.join(', ')}.`);
  if (positionals.length > 0 === Boolean(values.all)) throw new UsageError('Give names of views, or --all.');

  const config = readConfig();
  await using log = await openServiceLog(config);
  const [folder, origin] = viewDirectory(config);
  using _only = lockFile(path.join(folder, 'rebuild.lock'), 'Another rebuild is running.');
  const service = await serviceOn(config);
  using _alone = service ? undefined : lockDataFolder(config);
  const compared = names.filter((name) => values.all || positionals.includes(name));
  // A generation has all views; for a comparison alone the others need not be built.
  const projections = everyView.filter(({ name }) => !values.check || compared.includes(name));
  const started = clock.monotonic();
  using bars = new ProgressBars();
  const head = await log.head();
  const progress = (events: number, position: Position | undefined): void =>
    bars.at('events applied', events, estimateTotal(events, position, head));
  const signal = stopSignal(
    values.check ? 'Stopped.' : 'Stopped: nothing was switched. Run the same command again to resume.',
  );
  using temporary = values.check ? mkdtempDisposableSync(path.join(tmpdir(), 'views-')) : undefined;
  const where = { folder, origin, ...(temporary && { checkIn: temporary.path }) };
  using rebuild = new Rebuild({ log, ...where, projections, progress, signal });
  await rebuild.build();
  const differences = await listed(rebuild.differences(compared), signal);
  bars.end();

  const { events } = rebuild;
  const seconds = (clock.monotonic() - started) / 1000;
  const facts = {
    views: compared,
    events,
    seconds,
    differences: differences.count,
    notCompared: rebuild.notCompared,
  };
  if (values.check) {
    report(values.json, { ...facts, switched: null }, differences.first);
    return differences.count > 0 ? 1 : 0;
  }
  const otherwise = service ? [...rebuild.inOtherVersions(), ...(await unknownTo(service, compared))] : [];
  rebuild[Symbol.dispose]();
  const isAdopted = service !== undefined && otherwise.length === 0;
  const switched = isAdopted ? await service.adopt({ views: rebuild.generation }) : {};
  if (!service) rebuild.use();
  rebuild.finish();
  report(values.json, { ...facts, switched }, differences.first);
  if (otherwise.length > 0 && !values.json)
    say(
      `The running service does not have ${otherwise.join(', ')} as this release does, and continues with its own views.`,
    );
  return 0;
});

/** Resolves to the views that a service which serves clients does not have: those of a newer release. */
async function unknownTo(service: ControlClient, wanted: readonly string[]): Promise<readonly string[]> {
  const { roles, views } = await service.stateWhenFound();
  if (!roles.includes('http')) return []; // it has only some of the views
  return wanted.filter((name) => !views.some((view) => view.name === name));
}

type Facts = {
  readonly views: readonly string[];
  readonly events: number;
  readonly seconds: number;
  readonly differences: number;
  /** A sentence for each view that could not be compared, which need not be a fault. */
  readonly notCompared: readonly string[];
  /** Milliseconds of the switch in the service; empty: used from the next start on, `null`: after `--check`. */
  readonly switched: { readonly views?: number } | null;
};

async function listed(differences: AsyncIterable<ViewDifference>, signal: AbortSignal) {
  const first: ViewDifference[] = [];
  let count = 0;
  for await (const difference of differences) {
    signal.throwIfAborted();
    count += 1;
    if (first.length < MAX_LISTED) first.push(difference);
  }
  return { count, first };
}

function report(json = false, facts: Facts, differences: readonly ViewDifference[]): void {
  if (json) return say(jsonLine({ ...facts, listed: differences }));
  for (const { view, key, kind } of differences) say(`${view} ${key}: ${kind}`);
  const more = facts.differences - differences.length;
  if (more > 0) say(`… and ${more} more`);
  for (const note of facts.notCompared) say(note);
  const built = `${pluralize(facts.events, 'event')} in ${facts.seconds.toFixed(1)} s, ${pluralize(facts.differences, 'difference')} found`;
  const pause = facts.switched?.views;
  const how =
    facts.switched === null
      ? 'nothing was switched'
      : pause === undefined
        ? 'in use from the next start on'
        : `switched in ${pause.toFixed(1)} ms`;
  say(`${facts.views.join(', ')}: ${built}; ${how}.`);
}
