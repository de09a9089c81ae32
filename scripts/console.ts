import { readConfig } from '../src/config/read-config.ts';
import { readOptions } from '../src/operations/command/arguments.ts';
import { operator, refused, runCommand } from '../src/operations/command/command.ts';
import { jsonLine, say } from '../src/operations/command/output.ts';
import { openServiceLog, serviceOn } from '../src/operations/command/service-engines.ts';
import { consoleLink } from '../src/operations/people/console-link.ts';

const HELP = `Prints a link by which a person signs in to the console of the running service, once, within a minute.

Usage: deposit-service console [--as PERSON] [--json]

--as  who signs in; default: you, with the name that events of your commands have

A default person who does not exist yet is added with the role operator. "deposit-service person" adds others, and
changes roles. The command needs the right to read the data folder, as other commands do, and nothing else.
`;

await runCommand(
  HELP,
  async (args) => {
    const values = readOptions(args, { as: { type: 'string' }, json: { type: 'boolean' } });
    const config = readConfig();
    const service = await serviceOn(config);
    if (!service) throw refused('NO_SERVICE', `No service runs on ${config.dataDir}: start it first.`);
    await using log = await openServiceLog(config);
    const link = await consoleLink(log, service, operator(config), values.as);
    say(
      values.json
        ? jsonLine(link)
        : `${link.url}\n\nValid once, for a minute, for ${link.person} (${link.role}).`,
    );
  },
  { mayBeBare: true },
);
