import { files } from '../../tools/files.ts';
import { ViewUnavailable, viewUnavailable } from '../view-unavailable.ts';
import { ViewFile, type ViewFileOptions } from './view-file.ts';

/**
 * Verifies a generation before it is taken into use, without changing it: a file that another release has
 * built is left for that release.
 * @throws {ViewUnavailable} it is missing, or not of this version and log
 */
export function assertBuilt(file: string, options: ViewFileOptions): void {
  const { name, version, origin } = options;
  if (!files.existsSync(file))
    throw new ViewUnavailable(`There is no ${file} that the view ${name} could be switched to.`);
  const about = aboutOf(file, options);
  if (about?.name === name && about.version === version && about.origin === origin) return;
  const [built, shown] = [about ?? { version: 'unknown', origin: 'unknown' }, options].map(
    (of) => `version ${of.version} of the log ${of.origin}`,
  );
  throw new ViewUnavailable(
    `The view ${name} cannot be switched to ${file}, which is of ${built}: the running service shows ${shown}. Stop it, run the command again, then start the release that the command is of.`,
  );
}

function aboutOf(file: string, options: ViewFileOptions): ReturnType<ViewFile['about']> {
  try {
    using found = ViewFile.openReadOnly(file, options);
    return found.about();
  } catch (error) {
    throw viewUnavailable({ name: options.name, file }, 'opened', error);
  }
}
