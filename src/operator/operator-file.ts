import path from 'node:path';
import { isOfPermission, notPermitted } from '../permission.ts';
import { files } from '../tools/files.ts';

/** Tells where the running service listens to operators, and the token it asks for. */
export function operatorFile(dataDir: string): string {
  return path.join(dataDir, 'operator.json');
}

/** The service replaces it as a whole, but a power cut may leave it empty, and anybody may edit it. */
export class OperatorFileDamaged extends Error {
  override readonly name = 'OperatorFileDamaged';
  readonly code = 'OPERATOR_FILE_DAMAGED';

  constructor(file: string) {
    super(
      `${file} tells of no service that could be asked: start the service, which writes it anew, or remove the file when none runs on the folder.`,
    );
  }
}

/**
 * What is told there; `undefined` where there is no such file.
 * @throws {OperatorFileDamaged}
 * @throws {NotPermitted} it is for the user of the service only.
 */
export async function readOperatorFile(
  dataDir: string,
): Promise<{ readonly url: string; readonly token: string } | undefined> {
  const file = operatorFile(dataDir);
  const text = await files.readFile(file, 'utf8').catch((error: unknown) => {
    if (isOfPermission(error)) throw notPermitted(file, 'read', error);
    if (!isOfNothingThere(error)) throw error; // whether one runs is not known
    return undefined;
  });
  if (text === undefined) return undefined;
  const { url, token } = factsIn(text);
  if (typeof url !== 'string' || typeof token !== 'string' || !URL.canParse(url)) {
    throw new OperatorFileDamaged(file);
  }
  return { url, token };
}

function factsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function isOfNothingThere(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
