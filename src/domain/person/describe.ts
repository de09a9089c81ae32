import { type Description, describedBy, description, detail, type Fact } from '../description.ts';
import type { Person, PersonEvent } from './person.ts';

/** Describes an event of a person in plain text. */
export const describePersonEvent: (event: PersonEvent) => Description = describedBy<PersonEvent>({
  PersonAdded: ({ person, role, client }) =>
    description(`Person ${person} added with the role ${role}.`, detail('client', client)),
  RoleChanged: ({ role, client }) => description(`Role changed to ${role}.`, detail('client', client)),
  PersonDisabled: () => description('Person disabled: every session has ended.'),
  PersonEnabled: () => description('Person enabled: they can sign in again.'),
  SessionsEnded: () => description('All sessions ended.'),
});

/** Returns all facts about a person except their status, for operators to read. */
export function personFacts(person: Person): readonly Fact[] {
  if (person.status === 'unknown') return [];
  const { role, client } = person;
  return [
    { label: 'role', values: [role] },
    { label: 'client', values: client === null ? [] : [client] },
  ];
}
