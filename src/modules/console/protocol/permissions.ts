import type { Role } from '../../../domain/person/person.ts';

/** Rights that a route requires. */
export type Permission =
  /** Everybody, also without a session. */
  | 'public'
  /** Everybody with a session. */
  | 'session'
  /** Deposits: all of them, or those of the depositor's client. */
  | 'deposits:read'
  /** Bytes of files in deposits that the viewer may read. */
  | 'contents:read'
  /** The whole service. */
  | 'service:read'
  /** Retries and checks of deposits. */
  | 'deposits:act'
  /** Decisions about parked events. */
  | 'work:act';

/** A moderator has no right yet. */
const PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  operator: ['session', 'deposits:read', 'contents:read', 'service:read', 'deposits:act', 'work:act'],
  auditor: ['session', 'deposits:read', 'service:read'],
  depositor: ['session', 'deposits:read', 'contents:read'],
  moderator: ['session'],
};

/** Returns whether the role has the permission; without a role, only what is public. */
export function permits(role: Role | undefined, permission: Permission): boolean {
  return permission === 'public' || (role !== undefined && PERMISSIONS[role].includes(permission));
}

export function permissionsOf(role: Role): readonly Permission[] {
  return PERMISSIONS[role];
}
