import { type Metadata, status } from '@grpc/grpc-js';
import type { StreamMetadataReader } from '../storage/stream-metadata.ts';
import { type Refusal, refusal } from './fault-switches.ts';

export type User = { readonly password: string; readonly groups: readonly string[] };

/** Something that not every user may do. */
export type Deed =
  | { readonly do: 'read' | 'write' | 'delete'; readonly stream: string }
  /** Create, update, delete groups and restart their subsystem; scavenge. */
  | { readonly do: 'operate' }
  | { readonly do: 'manage users' }
  | { readonly do: 'look at groups' };

const ADMINS = '$admins';
const RIGHTS = { read: '$r', write: '$w', delete: '$d' } as const;
const METADATA_RIGHTS = { read: '$mr', write: '$mw', delete: '$mw' } as const;

/** The users of a server, and the rules by which it refuses them. Without users every call may do everything. */
export class AccessControl {
  readonly #users: Map<string, User> | undefined;
  readonly #metadata: StreamMetadataReader;

  constructor(users: Readonly<Record<string, User>> | undefined, metadata: StreamMetadataReader) {
    this.#users = users && new Map(Object.entries(users));
    this.#metadata = metadata;
  }

  nameOf(metadata: Metadata): string {
    return this.#credentials(metadata)?.name ?? 'anonymous';
  }

  has(name: string): boolean {
    return this.#users?.has(name) ?? false;
  }

  add(name: string, user: User): void {
    this.#users?.set(name, user);
  }

  remove(name: string): void {
    this.#users?.delete(name);
  }

  /** Returns the answer to a call that its user may not make. */
  refusal(metadata: Metadata, deed: Deed): Refusal | undefined {
    if (!this.#users) return undefined;
    const credentials = this.#credentials(metadata);
    if (!credentials) return refusal(status.PERMISSION_DENIED, 'access-denied');
    const user = this.#users.get(credentials.name);
    if (!user || user.password !== credentials.password) return refusal(status.UNAUTHENTICATED);
    if (this.#mayDo(deed, credentials.name, user)) return undefined;
    return refusal(status.PERMISSION_DENIED, 'access-denied');
  }

  #mayDo(deed: Deed, name: string, { groups }: User): boolean {
    if (groups.includes(ADMINS) || deed.do === 'look at groups') return true;
    if (deed.do === 'operate') return groups.includes('$ops');
    if (deed.do === 'manage users') return false;
    const roles = this.#rolesFor(deed.do, deed.stream);
    return roles.some((role) => role === '$all' || role === name || groups.includes(role));
  }

  #rolesFor(what: 'read' | 'write' | 'delete', stream: string): readonly string[] {
    const isMetadata = stream.startsWith('$$');
    const subject = isMetadata ? stream.slice(2) : stream;
    const { acl } = this.#metadata.of(subject);
    const right = isMetadata ? METADATA_RIGHTS[what] : RIGHTS[what];
    return acl[right] ?? [subject.startsWith('$') ? ADMINS : '$all'];
  }

  #credentials(metadata: Metadata): { readonly name: string; readonly password: string } | undefined {
    const [, encoded] = /^Basic (.+)$/.exec(String(metadata.get('authorization')[0])) ?? [];
    if (encoded === undefined) return undefined;
    const [name = '', ...password] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
    return { name, password: password.join(':') };
  }
}
