import { type PersonView, people as shownPeople } from '../projections/people.ts';
import { readConfig } from '../src/config/read-config.ts';
import { AdminCommands } from '../src/deposits/admin-commands.ts';
import { readState } from '../src/deposits/command-handler.ts';
import { clients, people } from '../src/domain/aggregates.ts';
import { ROLES, type Role, type RoleOf } from '../src/domain/person/person.ts';
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
import { foldByKey } from '../src/views/fold.ts';

const HELP = `Adds people to the console, and changes what they may do there.

Usage: deposit-service person add NAME --role ROLE [--client CLIENT]
       deposit-service person role NAME --role ROLE [--client CLIENT]
       deposit-service person disable NAME
       deposit-service person enable NAME
       deposit-service person end-sessions NAME
       deposit-service person list [--json]

--role    operator sees and does everything, auditor sees everything, depositor sees the deposits of one client,
          moderator may sign in and sees nothing yet
--client  the client of a depositor

disable ends all sessions at once, as end-sessions does. "deposit-service console --as NAME" prints a link to sign in.
`;

const ACTIONS: Actions = {
  add: ['role', 'client'],
  role: ['role', 'client'],
  disable: [],
  enable: [],
  'end-sessions': [],
  list: ['json'],
};

const OPTIONS = { role: { type: 'string' }, client: { type: 'string' }, json: { type: 'boolean' } } as const;

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

await runCommand(HELP, async ([action = '', ...rest]) => {
  const { values, positionals } = readArguments(rest, OPTIONS);
  assertAction(ACTIONS, action, values);
  if (action === 'list') assertNoPositionals(positionals);
  const person = action === 'list' ? '' : onlyPositional(positionals, 'NAME');
  const role = action === 'add' || action === 'role' ? roleIn(values) : undefined;
  const config = readConfig();
  await using log = await (action === 'list' ? openLogReadOnly : openServiceLog)(config);
  if (action === 'list') {
    const all = [
      ...(await foldByKey(shownPeople, log.readAll({ streamPrefixes: [people.prefix] }))).values(),
    ];
    for (const one of all) say(values.json ? jsonLine(one) : line(one));
    if (all.length === 0 && !values.json) say('No person has been added.');
    return;
  }
  const client = role?.client ?? null;
  if (client !== null && (await readState(log, clients, client)).state.status === 'unknown')
    throw refused('CLIENT_UNKNOWN', `Client ${client} not found.`);
  const administration = new AdminCommands(log, operator(config));
  say(await change(administration, action, person, role));
  await untilInEffect(config, log, administration);
});

/** Changes a person. Resolves to what was done, as a sentence. */
async function change(
  administration: AdminCommands,
  action: string,
  person: string,
  role: RoleOf | undefined,
): Promise<string> {
  if (action === 'add' && role) {
    await administration.person({ type: 'AddPerson', person, ...role });
    return `Added ${person} with the role ${role.role}.`;
  }
  if (action === 'role' && role) {
    await administration.person({ type: 'ChangeRole', person, ...role });
    return `${person} has the role ${role.role}.`;
  }
  if (action === 'disable') {
    await administration.person({ type: 'DisablePerson', person });
    return `Disabled ${person}: every session has ended.`;
  }
  if (action === 'enable') {
    await administration.person({ type: 'EnablePerson', person });
    return `Enabled ${person}.`;
  }
  await administration.person({ type: 'EndSessions', person });
  return `Ended all sessions of ${person}.`;
}

function roleIn({ role, client }: Values): RoleOf {
  const known: readonly string[] = ROLES;
  if (role === undefined || !known.includes(role))
    throw new UsageError(`--role must be one of ${ROLES.join(', ')}.`);
  return { role: role as Role, client: client ?? null }; // it is on the list
}

function line({ person, role, client, disabled }: PersonView): string {
  return `${person}  ${role}${client === null ? '' : ` of ${client}`}${disabled ? '  disabled' : ''}`;
}
