import { readConfig } from '../src/config/read-config.ts';
import { AdminCommands } from '../src/deposits/admin-commands.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import {
  type Actions,
  assertAction,
  assertNoPositionals,
  onlyPositional,
  readArguments,
} from '../src/operations/command/arguments.ts';
import { operator, refused, runCommand, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say, warn } from '../src/operations/command/output.ts';
import { openLogReadOnly, openServiceLog } from '../src/operations/command/service-engines.ts';
import { type ParkedFacts, parkedFacts } from '../src/operations/parked/parked-facts.ts';
import { skipParked } from '../src/operations/parked/skip-parked.ts';
import { ALL_REACTORS } from '../src/reactors/reactor-names.ts';
import { printableLine } from '../src/tools/terminal/printable.ts';
import { spanText } from '../src/tools/terminal/span-text.ts';

const HELP = `Lists events that the checker, the loader or the notifier could not handle, and retries or skips them.

Usage: deposit-service parked list [--reactor NAME] [--json]
       deposit-service parked show EVENT_ID [--reactor NAME] [--json]
       deposit-service parked retry EVENT_ID… | --all [--reactor NAME]
       deposit-service parked skip EVENT_ID [--reactor NAME] --reason TEXT

--reactor  ${ALL_REACTORS.join(', ')}; required if several of them have parked the event

list shows when each was parked, after how many tries, and why. retry lets the running service handle them again. skip
gives one up for ever: a deposit that waits for its checks is rejected, one that waits for its loading fails, with TEXT as
the reason, which the client sees. Both append events that name you.

--json     one JSON object per event
`;

/** Longest reason for a skipped event, in characters: events stay small. */
const MAX_REASON = 1000;

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
  const parked = (await Promise.all(reactors.map((reactor) => parkedFacts(log, reactor)))).flat();
  switch (action) {
    case 'list': {
      for (const event of parked) say(values.json ? jsonLine(event) : lines(event));
      if (parked.length === 0 && !values.json) say('No event is parked.');
      return;
    }
    case 'show':
      return await show(log, named(parked, onlyPositional(positionals, 'EVENT_ID')), values.json);
    case 'retry': {
      if (positionals.length > 0 === Boolean(values.all))
        throw new UsageError('Give ids of events, or --all.');
      const chosen = values.all ? parked : [...new Set(positionals)].map((id) => named(parked, id));
      const left = new Set(chosen);
      for (const reactor of reactors) {
        const its = chosen.filter((event) => event.reactor === reactor);
        for await (const event of administration.retryParked(reactor, its)) {
          left.delete(event);
          say(`The ${reactor} retries ${event.stream} (event ${event.eventId}).`);
        }
      }
      for (const { reactor, eventId } of left)
        warn(`The event ${eventId} is no longer parked for the ${reactor}.`);
      if (parked.length === 0) say('No event is parked.');
      return left.size > 0 && !values.all ? 1 : 0;
    }
    case 'skip': {
      const event = named(parked, onlyPositional(positionals, 'EVENT_ID'));
      const ended = await skipParked(log, administration, event, reasonIn(values.reason));
      say(`The ${event.reactor} will not handle the event ${event.eventId} again.`);
      if (ended) say(`Deposit ${ended.depositId} is ${ended.status}.`);
      return;
    }
  }
});

function reactorsNamed(name: string | undefined): readonly string[] {
  const reactors: readonly string[] = ALL_REACTORS;
  if (name === undefined) return reactors;
  if (reactors.includes(name)) return [name];
  throw new UsageError(`--reactor must be one of ${reactors.join(', ')}, not ${name}.`);
}

function reasonIn(text = ''): string {
  if (text === '')
    throw new UsageError('--reason is missing: it is stored in the log, and the client sees it.');
  if (text.length <= MAX_REASON) return text;
  throw new UsageError(`--reason has ${text.length} characters; at most ${MAX_REASON} are stored.`);
}

function named(parked: readonly ParkedFacts[], eventId: string): ParkedFacts {
  const [found, ...others] = parked.filter((event) => event.eventId === eventId);
  if (!found) throw refused('NOT_PARKED', `No event ${eventId} is parked; "list" shows those that are.`);
  if (others.length === 0) return found;
  const reactors = [found, ...others].map(({ reactor }) => reactor).join(', ');
  throw new UsageError(`The event ${eventId} is parked for ${reactors}: name one of them with --reactor.`);
}

async function show(log: EventLog, parked: ParkedFacts, json = false): Promise<void> {
  const { stream, revision: from } = parked;
  const [event] = await Array.fromAsync(log.readStream(stream, { from, limit: 1 }));
  if (json) return say(jsonLine({ ...parked, event: event ?? null }));
  say(lines(parked));
  if (event) say(JSON.stringify({ type: event.type, data: event.data, metadata: event.metadata }, null, 2));
}

function lines({ reactor, eventId, stream, revision, reason, ...parked }: ParkedFacts): string {
  const { parkedAt, ageSeconds, timesParked, firstParkedAt } = parked;
  const tries = parked.tries === null ? '' : `, after ${parked.tries} failed tries`;
  const again = timesParked === 1 ? '' : `; ${timesParked} times since ${firstParkedAt}`;
  return [
    `${eventId}  ${reactor}  ${stream} at revision ${revision}`,
    `    parked ${parkedAt}, ${spanText(ageSeconds)} ago${tries}${again}`,
    `    | ${printableLine(reason)}`,
  ].join('\n');
}
