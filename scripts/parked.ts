import { readConfig } from '../src/config/config.ts';
import { AdminCommands } from '../src/deposits/admin-commands.ts';
import type { ParkedEvent } from '../src/domain/parking/parking.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import {
  type Actions,
  assertAction,
  assertNoPositionals,
  onlyPositional,
  operator,
  readArguments,
  refused,
  runCommand,
  say,
  UsageError,
} from '../src/operations/command/command.ts';
import { openLogReadOnly, openServiceLog } from '../src/operations/command/service-engines.ts';
import { parkedEvents } from '../src/reactors/parking.ts';
import { REACTORS_WITH_PARKING } from '../src/reactors/reactor-names.ts';
import { printableLine } from '../src/tools/terminal/printable.ts';

const HELP = `Lists events that the checker, the loader or the notifier could not handle, and retries or skips them.

Usage: deposit-service parked list [--reactor NAME] [--json]
       deposit-service parked show EVENT_ID [--reactor NAME] [--json]
       deposit-service parked retry EVENT_ID… | --all [--reactor NAME]
       deposit-service parked skip EVENT_ID [--reactor NAME] --reason TEXT

--reactor  ${REACTORS_WITH_PARKING.join(', ')}; required if several of them have parked the event

retry lets the running service handle them again; skip leaves them for good. Both append an event that names you.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
`;

const ACTIONS: Actions = {
  list: ['reactor', 'json'],
  show: ['reactor', 'json'],
  retry: ['reactor', 'all'],
  skip: ['reactor', 'reason'],
};

await runCommand(HELP, async ([action = '', ...rest]) => {
  const { values, positionals } = readArguments(rest, {
    all: { type: 'boolean' },
    reactor: { type: 'string' },
    reason: { type: 'string' },
    json: { type: 'boolean' },
  });
  assertAction(ACTIONS, action, values);
  if (action === 'list') assertNoPositionals(positionals);
  const reactors = reactorsNamed(values.reactor);
  const config = readConfig();
  const onlyLooks = ['show', 'list'].includes(action);
  await using log = await (onlyLooks ? openLogReadOnly : openServiceLog)(config);
  const administration = new AdminCommands(log, operator(config));
  const parked = (await Promise.all(reactors.map((reactor) => parkedEvents(log, reactor)))).flat();
  switch (action) {
    case 'list': {
      if (values.json) return say(JSON.stringify(parked));
      for (const event of parked) say(line(event));
      if (parked.length === 0) say('No event is parked.');
      return;
    }
    case 'show':
      return show(log, named(parked, onlyPositional(positionals, 'EVENT_ID')), values.json);
    case 'retry': {
      if (positionals.length > 0 === Boolean(values.all)) throw new UsageError('Name events, or --all.');
      const chosen = values.all ? parked : positionals.map((id) => named(parked, id));
      for (const reactor of reactors) {
        const its = chosen.filter((event) => event.reactor === reactor);
        for await (const { stream, eventId } of administration.retryParked(reactor, its)) {
          say(`The ${reactor} tries ${stream} again (event ${eventId}).`);
        }
      }
      if (parked.length === 0) say('No event is parked.');
      return;
    }
    case 'skip': {
      const { reactor, eventId } = named(parked, onlyPositional(positionals, 'EVENT_ID'));
      if (!values.reason) throw new UsageError('--reason is missing: it is kept in the log.');
      await administration.parking({ type: 'SkipParked', reactor, eventId, reason: values.reason });
      say(`The ${reactor} leaves the event ${eventId} for good.`);
      return;
    }
  }
});

function reactorsNamed(name: string | undefined): readonly string[] {
  const reactors: readonly string[] = REACTORS_WITH_PARKING;
  if (name === undefined) return reactors;
  if (reactors.includes(name)) return [name];
  throw new UsageError(`--reactor must be one of ${reactors.join(', ')}, not ${name}.`);
}

function named(parked: readonly ParkedEvent[], eventId: string): ParkedEvent {
  const [found, ...others] = parked.filter((event) => event.eventId === eventId);
  if (!found) throw refused('NOT_PARKED', `No event ${eventId} is parked; "list" shows those that are.`);
  if (others.length === 0) return found;
  const reactors = [found, ...others].map(({ reactor }) => reactor).join(', ');
  throw new UsageError(`The event ${eventId} is parked for ${reactors}: name one of them with --reactor.`);
}

async function show(log: EventLog, parked: ParkedEvent, json = false): Promise<void> {
  const { stream, revision: from } = parked;
  const [event] = await Array.fromAsync(log.readStream(stream, { from, limit: 1 }));
  if (json) return say(JSON.stringify({ ...parked, event: event ?? null }));
  say(line(parked));
  if (event) say(JSON.stringify({ type: event.type, data: event.data, metadata: event.metadata }, null, 2));
}

function line({ reactor, eventId, stream, revision, reason }: ParkedEvent): string {
  return `${eventId}  ${reactor}  ${stream} at revision ${revision}: ${printableLine(reason)}`;
}
