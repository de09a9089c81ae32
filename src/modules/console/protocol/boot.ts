import type { Role } from '../../../domain/person/person.ts';
import type { Permission } from './permissions.ts';

/** Facts that the server writes into each page. */
export type Boot = {
  readonly viewer: {
    readonly kind: 'person' | 'client';
    readonly name: string;
    readonly role: Role;
    readonly client: string | null;
    readonly permissions: readonly Permission[];
  };
  readonly service: {
    readonly name: string;
    readonly version: string;
    readonly url: string;
    /** When it wrote this: RFC 3339. */
    readonly time: string;
  };
};

/** Returns the text by which a page says in requests whom it shows: `person:rosa`, `client:alice`. */
export function viewerText({ kind, name }: Pick<Boot['viewer'], 'kind' | 'name'>): string {
  return `${kind}:${name}`;
}
