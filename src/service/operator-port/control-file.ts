import path from 'node:path';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { isPermissionError, notPermitted, unlessMissing } from '../../tools/files/access.ts';
import { files } from '../../tools/files.ts';
import { parseJson } from '../../tools/parse-json.ts';

/** Path of the file with the URL of the operator port and its token. */
export function controlFile(dataDir: string): string {
  return path.join(dataDir, 'operator.json');
}

/**
 * The control file is unusable. The service replaces it atomically, but a power cut may leave it empty, and an operator
 * may edit it.
 */
export class OperatorFileDamaged extends errorsOfCode('OPERATOR_FILE_DAMAGED') {
  constructor(file: string) {
    super(
      `${file} names no reachable service: start the service, which writes the file again, or remove the file if no service runs on the folder.`,
    );
  }
}

/**
 * Reads the control file; resolves to `undefined` if it does not exist.
 * @throws {OperatorFileDamaged}
 * @throws {NotPermitted} it is readable only for the user of the service.
 */
export async function readOperatorFile(
  dataDir: string,
): Promise<{ readonly url: string; readonly token: string } | undefined> {
  const file = controlFile(dataDir);
  const missing = unlessMissing(undefined, 'ENOTDIR'); // after any other error, it is unknown whether a service runs
  const text = await files.readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (isPermissionError(error)) throw notPermitted(file, 'read', error);
    return missing(error);
  });
  if (text === undefined) return undefined;
  const { url, token } = Object(parseJson(text)) as Readonly<Record<string, unknown>>;
  if (typeof url !== 'string' || typeof token !== 'string' || !URL.canParse(url)) {
    throw new OperatorFileDamaged(file);
  }
  return { url, token };
}
