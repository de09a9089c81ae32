import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageFault } from './faults.ts';
import { Connection } from './http/connection.ts';
import { timeLimits } from './http/retries.ts';
import { Output } from './output.ts';
import { isExposed, LOGIN_OPTIONS, readLogin } from './settings.ts';

export const COMMON_OPTIONS = {
  ...LOGIN_OPTIONS,
  collection: { type: 'string' },
  timeout: { type: 'string' },
  patience: { type: 'string' }, // the old name of --timeout
  json: { type: 'boolean' },
} as const;

export const COMMON_HELP = `
--server URL, --user NAME, --password-stdin   or SWORD_SERVER, SWORD_USER, SWORD_PASSWORD_FILE or SWORD_PASSWORD
                                              in the environment, or the saved deposit login
--collection NAME   name of the collection, needed only if you have several
--timeout SECONDS   give up when the server stops responding (default 120)
--json              print one JSON object per result
`;

/** The connection and the output of a command. */
export type Session = { readonly connection: Connection; readonly output: Output };

/** Values of the options, as parsed. */
export type OptionValues<Options extends NonNullable<ParseArgsConfig['options']>> = ReturnType<
  typeof readArguments<Options>
>['values'];

export type SessionOptions = OptionValues<typeof COMMON_OPTIONS>;

/** Parses arguments with `parseArgs`, strict, with positionals. @throws {UsageFault} */
export function readArguments<Options extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: Options,
) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw code.startsWith('ERR_PARSE_ARGS')
      ? new UsageFault(`${message.replace(/\.?(?: To specify .*)?$/s, '')}. --help lists the options.`)
      : error;
  }
}

/** @throws {UsageFault} the command got an argument that is no option. */
export function assertOnlyOptions([unexpected]: readonly string[], command: string): void {
  if (unexpected === undefined) return;
  throw new UsageFault(
    `Unexpected argument '${unexpected}': deposit ${command} takes only options, see --help.`,
  );
}

/** @throws {UsageFault} */
export async function openSession(values: SessionOptions, { ignoreKept = false } = {}): Promise<Session> {
  const output = new Output(values.json ?? false);
  const limits = timeLimits(secondsIn(values.timeout ?? values.patience));
  const login = await readLogin(values, { ignoreKept });
  if (isExposed(login.server))
    output.note(
      `Warning: ${login.server.origin} is not encrypted: others on the network can read the password.`,
    );
  return { output, connection: new Connection({ login, limits, note: (text) => output.note(text) }) };
}

function secondsIn(text = '120'): number {
  const seconds = Number(text);
  if (/^[0-9]+(\.[0-9]+)?$/.test(text) && seconds <= 86_400) return seconds;
  throw new UsageFault(`Invalid --timeout '${text}': give a number of seconds up to 86400.`);
}
