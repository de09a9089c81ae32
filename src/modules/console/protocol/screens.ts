import type { Permission } from './permissions.ts';

/** A page of the console: an address with its permission, and its place in the navigation. */
export type Screen = {
  readonly path: string;
  readonly title: string;
  readonly permission: Permission;
  /** The key that opens it after `g`; only pages in the navigation have one. */
  readonly key?: string;
};

/** All pages, in the order of the navigation. Shared by the server and the browser. */
export const SCREENS = [
  { path: '/console/', title: 'Overview', permission: 'deposits:read', key: 'o' },
  { path: '/console/deposits', title: 'Deposits', permission: 'deposits:read', key: 'd' },
  { path: '/console/deposits/:id', title: 'Deposit', permission: 'deposits:read' },
  { path: '/console/work', title: 'Work', permission: 'service:read', key: 'w' },
  { path: '/console/search', title: 'Search', permission: 'deposits:read' },
] as const satisfies readonly Screen[];

export type ScreenPath = (typeof SCREENS)[number]['path'];
