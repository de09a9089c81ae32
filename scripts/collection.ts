import { collections as shownCollections } from '../projections/collections.ts';
import { readConfig } from '../src/config/read-config.ts';
import { AdminCommands } from '../src/deposits/admin-commands.ts';
import { assertPossible } from '../src/deposits/command-handler.ts';
import { collections } from '../src/domain/aggregates.ts';
import type { CollectionCommand } from '../src/domain/collection/collection.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import {
  type Actions,
  assertAction,
  assertNoPositionals,
  onlyPositional,
  readArguments,
} from '../src/operations/command/arguments.ts';
import { operator, refused, runCommand, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say } from '../src/operations/command/output.ts';
import { openLogReadOnly, openServiceLog } from '../src/operations/command/service-engines.ts';
import { untilInEffect } from '../src/operations/command/take-effect.ts';
import { foldByKey, foldStream } from '../src/views/fold.ts';

const HELP = `Creates collections and sets their entries in the service document.

Usage: deposit-service collection add NAME [--title T] [--abstract A] [--treatment T] [--policy P] [--accept TYPE]…
       deposit-service collection set NAME [the same options]
       deposit-service collection show NAME [--json]
       deposit-service collection list [--json]

--accept  application/zip, application/x-tar (also compressed), or both, which is the default

Example: deposit-service collection add software --title 'Research software'
`;

const TEXT_OPTIONS = {
  title: { type: 'string' },
  abstract: { type: 'string' },
  treatment: { type: 'string' },
  policy: { type: 'string' },
  accept: { type: 'string', multiple: true },
} as const;
const ACTIONS: Actions = {
  add: Object.keys(TEXT_OPTIONS),
  set: Object.keys(TEXT_OPTIONS),
  show: ['json'],
  list: ['json'],
};

await runCommand(HELP, async ([action = '', ...rest]) => {
  const { values, positionals } = readArguments(rest, { ...TEXT_OPTIONS, json: { type: 'boolean' } });
  assertAction(ACTIONS, action, values);
  assertNotEmpty(values);
  if (action === 'list') assertNoPositionals(positionals);
  const name = action === 'list' ? '' : onlyPositional(positionals, 'NAME');
  if (action === 'set' && Object.keys(values).length === 0)
    throw new UsageError(`Nothing to set: give one of --${Object.keys(TEXT_OPTIONS).join(', --')}.`);
  const config = readConfig();
  const onlyLooks = ['show', 'list'].includes(action);
  await using log = await (onlyLooks ? openLogReadOnly : openServiceLog)(config);
  const administration = new AdminCommands(log, operator(config));
  switch (action) {
    case 'add':
      await carryOut(log, administration, name, [
        { type: 'OpenCollection', collection: name },
        ...commandsFor(name, values),
      ]);
      say(`Opened the collection ${name}.`);
      return await untilInEffect(config, log, administration);
    case 'set':
      await carryOut(log, administration, name, commandsFor(name, values));
      say(`Changed the collection ${name}.`);
      return await untilInEffect(config, log, administration);
    case 'show': {
      const shown = await foldStream(shownCollections, log.readStream(`${collections.prefix}${name}`));
      if (!shown) throw refused('COLLECTION_UNKNOWN', `Collection ${name} not found.`);
      if (values.json) say(jsonLine(shown));
      else for (const [key, value] of Object.entries(shown)) say(`${key}: ${String(value)}`);
      return;
    }
    case 'list': {
      const all = await foldByKey(shownCollections, log.readAll({ streamPrefixes: [collections.prefix] }));
      for (const each of all.values())
        say(values.json ? jsonLine(each) : `${each.collection}: ${each.title}`);
      return;
    }
  }
});

/** Refuses empty texts: the service document contains all three for every collection. */
function assertNotEmpty(texts: CollectionTexts): void {
  const empty = (['title', 'abstract', 'treatment'] as const).find((name) => texts[name] === '');
  if (empty !== undefined) throw new UsageError(`--${empty} must not be empty.`);
}

type CollectionTexts = ReturnType<typeof readArguments<typeof TEXT_OPTIONS>>['values'];

function commandsFor(
  collection: string,
  { title, abstract, treatment, policy, accept }: CollectionTexts,
): readonly CollectionCommand[] {
  const described = {
    ...(title !== undefined && { title }),
    ...(abstract !== undefined && { abstract }),
    ...(treatment !== undefined && { treatment }),
  };
  const commands: CollectionCommand[] = [];
  if (Object.keys(described).length > 0)
    commands.push({ type: 'DescribeCollection', collection, ...described });
  if (policy !== undefined) commands.push({ type: 'ChangePolicy', collection, policy });
  if (accept) commands.push({ type: 'ChangeAcceptedTypes', collection, accept });
  return commands;
}

/** Executes the commands, or none if one of them would be refused. */
async function carryOut(
  log: EventLog,
  administration: AdminCommands,
  collection: string,
  commands: readonly CollectionCommand[],
): Promise<void> {
  await assertPossible(log, collections, collection, commands);
  for (const command of commands) await administration.collection(command);
}
