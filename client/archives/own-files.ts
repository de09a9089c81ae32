import { realpathSync } from 'node:fs';
import path from 'node:path';
import { readEnvironment } from '../environment.ts';
import { UsageFault } from '../faults.ts';
import { loginFile } from '../kept-login.ts';
import { ignoreErrors } from '../state-files.ts';
import { printablePath, withSlashes } from './folder-members.ts';

/**
 * Returns a predicate for the members of a folder that are files of this program, such as the saved login and the
 * `temporary` folder of this process: they must not be deposited. `note` is called for each.
 * @throws {UsageFault} the folder itself is one of them.
 */
export function ownFileTest(
  folder: string,
  source: string,
  temporary: string,
  note: (text: string) => void,
): (member: string) => boolean {
  const root = realpathSync(folder);
  const { folder: configuration, cacheFolder, passwordFile } = readEnvironment();
  const login = loginFile(configuration); // it may be a link into the folder
  const files = [configuration, login, cacheFolder, temporary, ...(passwordFile ? [passwordFile] : [])];
  const own = new Set<string>();
  for (const file of files) {
    const inside = path.relative(root, ignoreErrors(() => realpathSync(file)) ?? path.resolve(file));
    if (/^(\.\.(?:[/\\]\.\.)*)?$/.test(inside))
      throw new UsageFault(`${source} is a folder of this program, which may hold your password.`);
    own.add(Buffer.from(withSlashes(inside)).toString('latin1')); // as members are named
  }
  return (member) => {
    if (!own.has(member)) return false;
    note(`Left out: ${printablePath(source, member)}, which is of this program and may hold your password.`);
    return true;
  };
}
