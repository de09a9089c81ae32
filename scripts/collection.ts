import { collections as shownCollections } from '../projections/collections.ts';
import { Administration } from '../src/administration.ts';
import { readConfig } from '../src/config.ts';
import { collections } from '../src/domain/aggregates.ts';
import { openLog } from '../src/engines.ts';
import { foldByKey, foldStream } from '../src/read-models/fold.ts';
import { only, operator, readArguments, refused, runCommand, say, UsageError } from './command.ts';

const HELP = `Opens collections and says what the service document tells of them.

  npm run collection -- add NAME [--title T] [--abstract A] [--treatment T] [--policy P] [--accept TYPE]…
  npm run collection -- set NAME [the same options]
  npm run collection -- show NAME [--json]
  npm run collection -- list [--json]

--accept: application/zip, application/x-tar (compressed tars go with it), or both, which is the default.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
`;

await runCommand(HELP, async ([action = '', ...rest]) => {
  const { values, positionals } = readArguments(rest, {
    title: { type: 'string' },
    abstract: { type: 'string' },
    treatment: { type: 'string' },
    policy: { type: 'string' },
    accept: { type: 'string', multiple: true },
    json: { type: 'boolean' },
  });
  await using log = await openLog(readConfig());
  const administration = new Administration(log, operator());
  switch (action) {
    case 'add':
    case 'set': {
      const collection = only(positionals, 'NAME');
      if (action === 'add') await administration.collection({ type: 'OpenCollection', collection });
      const { title, abstract, treatment, policy, accept } = values;
      if (title ?? abstract ?? treatment) {
        const described = {
          ...(title && { title }),
          ...(abstract && { abstract }),
          ...(treatment && { treatment }),
        };
        await administration.collection({ type: 'DescribeCollection', collection, ...described });
      }
      if (policy !== undefined) await administration.collection({ type: 'ChangePolicy', collection, policy });
      if (accept) await administration.collection({ type: 'ChangeAcceptedTypes', collection, accept });
      say(`${action === 'add' ? 'Opened' : 'Changed'} the collection ${collection}.`);
      return;
    }
    case 'show': {
      const name = only(positionals, 'NAME');
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
    default:
      throw new UsageError(`There is no action ${action}; --help lists them.`);
  }
});
