import { collections as shownCollections } from '../projections/collections.ts';
import { Administration } from '../src/administration.ts';
import { assertPossible } from '../src/command-handler.ts';
import { readConfig } from '../src/config.ts';
import { collections } from '../src/domain/aggregates.ts';
import type { CollectionCommand } from '../src/domain/collection/collection.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import { foldByKey, foldStream } from '../src/read-models/fold.ts';
import {
  type Actions,
  assertAction,
  none,
  only,
  operator,
  readArguments,
  refused,
  runCommand,
  say,
  UsageError,
} from './command.ts';
import { openLogToLook, openServiceLog } from './service-engines.ts';

const HELP = `Opens collections and says what the service document tells of them.

  npm run collection -- add NAME [--title T] [--abstract A] [--treatment T] [--policy P] [--accept TYPE]…
  npm run collection -- set NAME [the same options]
  npm run collection -- show NAME [--json]
  npm run collection -- list [--json]

--accept: application/zip, application/x-tar (compressed tars go with it), or both, which is the default.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
`;

const TELLS = {
  title: { type: 'string' },
  abstract: { type: 'string' },
  treatment: { type: 'string' },
  policy: { type: 'string' },
  accept: { type: 'string', multiple: true },
} as const;
const ACTIONS: Actions = {
  add: Object.keys(TELLS),
  set: Object.keys(TELLS),
  show: ['json'],
  list: ['json'],
};

await runCommand(HELP, async ([action = '', ...rest]) => {
  const { values, positionals } = readArguments(rest, { ...TELLS, json: { type: 'boolean' } });
  assertAction(ACTIONS, action, values);
  assertNotEmpty(values);
  if (action === 'list') none(positionals);
  const name = action === 'list' ? '' : only(positionals, 'NAME');
  if (action === 'set' && Object.keys(values).length === 0)
    throw new UsageError(`Nothing to set: give one of --${Object.keys(TELLS).join(', --')}.`);
  const config = readConfig();
  const onlyLooks = ['show', 'list'].includes(action);
  await using log = await (onlyLooks ? openLogToLook : openServiceLog)(config);
  const administration = new Administration(log, operator(config));
  switch (action) {
    case 'add':
      await carryOut(log, administration, name, [
        { type: 'OpenCollection', collection: name },
        ...told(name, values),
      ]);
      return say(`Opened the collection ${name}.`);
    case 'set':
      await carryOut(log, administration, name, told(name, values));
      return say(`Changed the collection ${name}.`);
    case 'show': {
      const shown = await foldStream(shownCollections, log.readStream(`${collections.prefix}${name}`));
      if (!shown) throw refused('COLLECTION_UNKNOWN', `There is no collection ${name}.`);
      if (values.json) say(JSON.stringify(shown));
      else for (const [key, value] of Object.entries(shown)) say(`${key}: ${String(value)}`);
      return;
    }
    case 'list': {
      const all = await foldByKey(shownCollections, log.readAll({ streamPrefixes: [collections.prefix] }));
      if (values.json) say(JSON.stringify([...all.values()]));
      else for (const { collection, title } of all.values()) say(`${collection}: ${title}`);
      return;
    }
  }
});

/** The service document has all three of every collection. */
function assertNotEmpty(told: Told): void {
  const empty = (['title', 'abstract', 'treatment'] as const).find((name) => told[name] === '');
  if (empty !== undefined) throw new UsageError(`--${empty} must not be empty.`);
}

type Told = {
  readonly title?: string | undefined;
  readonly abstract?: string | undefined;
  readonly treatment?: string | undefined;
  readonly policy?: string | undefined;
  readonly accept?: readonly string[] | undefined;
};

function told(
  collection: string,
  { title, abstract, treatment, policy, accept }: Told,
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

/** Nothing is done where one of them would be refused. */
async function carryOut(
  log: EventLog,
  administration: Administration,
  collection: string,
  commands: readonly CollectionCommand[],
): Promise<void> {
  await assertPossible(log, collections, collection, commands);
  for (const command of commands) await administration.collection(command);
}
