import { people as personStreams } from '../src/domain/aggregates.ts';
import type { PersonEvent, RoleOf } from '../src/domain/person/person.ts';
import type { Projection } from '../src/views/projection.ts';

export type PersonView = RoleOf & {
  readonly person: string;
  readonly disabled: boolean;
  /** Changes when all sessions of the person end. */
  readonly sessionRevision: number;
};

export const people: Projection<PersonView, PersonEvent> = {
  name: 'people',
  version: 1,
  source: personStreams,
  when: {
    PersonAdded: (_, { data: { person, role, client }, revision }) => ({
      person,
      role,
      client,
      disabled: false,
      sessionRevision: revision,
    }),
    RoleChanged: (view, { data: { role, client } }) => view && { ...view, role, client },
    PersonDisabled: (view, { revision }) => view && { ...view, disabled: true, sessionRevision: revision },
    PersonEnabled: (view) => view && { ...view, disabled: false },
    SessionsEnded: (view, { revision }) => view && { ...view, sessionRevision: revision },
  },
};
