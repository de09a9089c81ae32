import { files } from '../../tools/files.ts';
import type { ViewSchema } from '../projection.ts';
import { ViewUnavailable, viewUnavailable } from '../view-unavailable.ts';
import { ViewFile } from './view-file.ts';

/**
 * Verifies a generation before it is taken into use, without changing it: a file that another release has
 * built is left for that release.
 * @throws {ViewUnavailable} it is missing, or not of these views and this log
 */
export function assertBuilt(file: string, origin: string, schemas: readonly ViewSchema[]): void {
  if (!files.existsSync(file))
    throw new ViewUnavailable(`There is no ${file} that the views could be switched to.`);
  const { built, wanted } = differenceOf(file, origin, schemas);
  if (built === wanted) return;
  throw new ViewUnavailable(
    `The views cannot be switched to ${file}, which has ${built}: the running service shows ${wanted}. The release that the command is of uses it from its next start on.`,
  );
}

/** Whether the file is a generation of these views and this log. Returns `false` for a file that cannot be read. */
export function isBuilt(file: string, origin: string, schemas: readonly ViewSchema[]): boolean {
  if (!files.existsSync(file)) return false;
  try {
    const { built, wanted } = differenceOf(file, origin, schemas);
    return built === wanted;
  } catch {
    return false;
  }
}

function differenceOf(file: string, origin: string, schemas: readonly ViewSchema[]) {
  try {
    using found = new ViewFile(file);
    const [about, versions] = [found.about(), found.versions()];
    const other = schemas.find(({ name, version }) => versions.get(name) !== version);
    const of = (version: number | undefined, log: string | undefined): string =>
      `${other ? `version ${version ?? 'unknown'} of ${other.name}` : 'the views'} of the log ${log ?? 'unknown'}`;
    return {
      built: of(other && versions.get(other.name), about?.origin),
      wanted: of(other?.version, origin),
    };
  } catch (error) {
    throw viewUnavailable(file, 'opened', error);
  }
}
