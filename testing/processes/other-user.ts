import { statSync } from 'node:fs';
import path from 'node:path';

/**
 * Whether tests may run this Node as another user. Root may, unless only one user may read the folder of the checkout;
 * other users run the code as themselves.
 */
export const canSwitchUser =
  process.getuid?.() === 0 &&
  parentsOf(process.execPath).every((folder) => (statSync(folder).mode & 0o001) !== 0);

/** Whether tests that must not run as root can run at all. */
export const canBeUnprivileged = process.getuid?.() !== 0 || canSwitchUser;

function parentsOf(file: string): string[] {
  const parent = path.dirname(file);
  return parent === file ? [] : [parent, ...parentsOf(parent)];
}
