import { AdminCommands } from '../../deposits/admin-commands.ts';
import { type Actor, readState } from '../../deposits/command-handler.ts';
import { people } from '../../domain/aggregates.ts';
import { PersonRefusal, type Role } from '../../domain/person/person.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import type { ControlClient } from '../../service/operator-port/control-client.ts';
import { refused } from '../command/command.ts';

export type ConsoleLink = { readonly url: string; readonly person: string; readonly role: Role };

/** Resolves to a link by which a person signs in once; without a name, the operator, who is added if necessary. */
export async function consoleLink(
  log: EventLog,
  service: Pick<ControlClient, 'consoleCode' | 'stateWhenFound'>,
  actor: Actor,
  named: string | undefined,
): Promise<ConsoleLink> {
  const { roles } = await service.stateWhenFound();
  if (!roles.includes('http')) {
    const text = `The service has no console: it runs with DEPOSIT_ROLES=${roles.join()}. Run the command on a node with the role http.`;
    throw refused('NO_CONSOLE', text);
  }
  const person = named ?? actor.name;
  const before = await readState(log, people, person);
  if (before.state.status === 'disabled') throw refused('PERSON_DISABLED', `Person ${person} is disabled.`);
  if (before.state.status === 'unknown' && named !== undefined)
    throw new PersonRefusal(
      'PERSON_UNKNOWN',
      `Person ${named} not found. "deposit-service person add" adds one.`,
    );
  const role = before.state.status === 'unknown' ? 'operator' : before.state.role;
  try {
    const position =
      before.position ??
      (await new AdminCommands(log, actor).person({ type: 'AddPerson', person, role, client: null }));
    return { url: await service.consoleCode({ person, position }), person, role };
  } catch (error) {
    if (!(error instanceof PersonRefusal) || error.code !== 'PERSON_EXISTS') throw error;
    return consoleLink(log, service, actor, named); // another command has added the person meanwhile
  }
}
