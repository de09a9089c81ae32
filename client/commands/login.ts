import { fetchServiceDocument } from '../documents/service-document.ts';
import { readEnvironment } from '../environment.ts';
import { EXIT } from '../faults.ts';
import { keepLogin } from '../kept-login.ts';
import { assertOnlyOptions, COMMON_HELP, COMMON_OPTIONS, openSession, readArguments } from '../session.ts';

export const HELP = `Checks server, user and password, and saves them to a file that only you can read.

  deposit login --server URL --user NAME [--password-stdin]

Without --password-stdin the terminal prompts for the password. The file is login.json in the folder
sword-deposit of your configuration folder ($XDG_CONFIG_HOME, else ~/.config; %APPDATA% on Windows).
${COMMON_HELP}
Exit codes: 0 success, 1 refused or failed, 2 wrong usage, 5 server unreachable or not ready.
`;

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, COMMON_OPTIONS);
  assertOnlyOptions(positionals, 'login');
  const { connection, output } = await openSession(values, { ignoreKept: true });
  const { collections, clientDomain } = await fetchServiceDocument(connection);
  const file = keepLogin({ ...connection.login, server: connection.server.href }, readEnvironment().folder);
  const names = collections.map(({ name }) => name);
  output.result(
    { server: connection.server.href, user: connection.login.user, collections: names, clientDomain, file },
    `Logged in as ${connection.login.user}. Collections: ${names.join(', ') || 'none'}. Saved to ${file}.`,
    ...(clientDomain === null ? [] : [`Metadata need a url under ${clientDomain}.`]),
  );
  return EXIT.done;
}
