import { type Decider, Refusal } from '../decider.ts';

/** Roles of people in the console. A moderator may sign in, and sees nothing yet. */
export const ROLES = ['operator', 'moderator', 'auditor', 'depositor'] as const;
export type Role = (typeof ROLES)[number];

/** A role; a depositor has it for one client, whose deposits the person sees. */
export type RoleOf = { readonly role: Role; readonly client: string | null };

/** Events of a person who may use the console. */
export type PersonEvent =
  | { type: 'PersonAdded'; data: { person: string } & RoleOf }
  | { type: 'RoleChanged'; data: { person: string } & RoleOf }
  | { type: 'PersonDisabled'; data: { person: string } }
  | { type: 'PersonEnabled'; data: { person: string } }
  | { type: 'SessionsEnded'; data: { person: string } };

export type PersonCommand =
  | ({ type: 'AddPerson'; person: string } & RoleOf)
  | ({ type: 'ChangeRole'; person: string } & RoleOf)
  | { type: 'DisablePerson'; person: string }
  | { type: 'EnablePerson'; person: string }
  | { type: 'EndSessions'; person: string };

export type Person = { readonly status: 'unknown' } | ({ readonly status: 'active' | 'disabled' } & RoleOf);

type PersonRefusalCode = 'PERSON_EXISTS' | 'PERSON_UNKNOWN' | 'BAD_PERSON_NAME' | 'BAD_ROLE';
export class PersonRefusal extends Refusal<PersonRefusalCode> {}

export const personDecider: Decider<Person, PersonCommand, PersonEvent> = {
  initial: { status: 'unknown' },
  decide,
  evolve,
};

function decide(command: PersonCommand, state: Person): readonly PersonEvent[] {
  const { person } = command;
  if (command.type === 'AddPerson') return add(command, state);
  if (state.status === 'unknown') throw new PersonRefusal('PERSON_UNKNOWN', `Person ${person} not found.`);
  switch (command.type) {
    case 'ChangeRole': {
      const { role, client } = validRole(command);
      if (role === state.role && client === state.client) return [];
      return [{ type: 'RoleChanged', data: { person, role, client } }];
    }
    case 'DisablePerson':
      return state.status === 'disabled' ? [] : [{ type: 'PersonDisabled', data: { person } }];
    case 'EnablePerson':
      return state.status === 'active' ? [] : [{ type: 'PersonEnabled', data: { person } }];
    case 'EndSessions':
      return [{ type: 'SessionsEnded', data: { person } }];
    default:
      return command satisfies never;
  }
}

function add(command: Extract<PersonCommand, { type: 'AddPerson' }>, state: Person): readonly PersonEvent[] {
  const { person } = command;
  if (state.status !== 'unknown')
    throw new PersonRefusal('PERSON_EXISTS', `Person ${person} already exists.`);
  if (!/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/.test(person)) {
    const text = `"${person}" is not a name of a person: use up to 64 of A-Z a-z 0-9 . _ @ -, beginning with a letter or digit.`;
    throw new PersonRefusal('BAD_PERSON_NAME', text);
  }
  return [{ type: 'PersonAdded', data: { person, ...validRole(command) } }];
}

/** @throws {PersonRefusal} a depositor without a client, or another role with one. */
function validRole({ role, client }: RoleOf): RoleOf {
  if ((role === 'depositor') === (client !== null)) return { role, client };
  const text = client === null ? 'The role depositor needs a client.' : `The role ${role} takes no client.`;
  throw new PersonRefusal('BAD_ROLE', text);
}

function evolve(state: Person, event: PersonEvent): Person {
  if (event.type === 'PersonAdded' || event.type === 'RoleChanged') {
    const { role, client } = event.data;
    return { status: state.status === 'disabled' ? 'disabled' : 'active', role, client };
  }
  if (state.status === 'unknown') return state; // a stream begins with PersonAdded
  switch (event.type) {
    case 'PersonDisabled':
      return { ...state, status: 'disabled' };
    case 'PersonEnabled':
      return { ...state, status: 'active' };
    case 'SessionsEnded':
      return state;
    default:
      return event satisfies never;
  }
}
