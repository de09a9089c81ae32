import { fetchServiceDocument } from '../documents/service-document.ts';
import { readEnvironment } from '../environment.ts';
import { EXIT, UsageFault } from '../faults.ts';
import { keepLogin } from '../kept-login.ts';
import { COMMON_HELP, COMMON_OPTIONS, openSession, readArguments } from '../session.ts';

export const HELP = `Tries server, user and password, and keeps them in a file that only you can read.

  deposit login --server URL --user NAME [--password-stdin]

Without --password-stdin the password is asked for at the terminal. The file is login.json in the folder
sword-deposit of your configuration folder ($XDG_CONFIG_HOME, else ~/.config; %APPDATA% on Windows).
${COMMON_HELP}
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 5 the server cannot be reached or is not ready.
`;

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, COMMON_OPTIONS);
  if (positionals.length > 0) throw new UsageFault(`deposit login takes no ${positionals[0]}; see --help.`);
  const { connection, output } = await openSession(values, { ignoreKept: true });
  const { collections } = await fetchServiceDocument(connection);
  const file = keepLogin({ ...connection.login, server: connection.server.href }, readEnvironment().folder);
  const names = collections.map(({ name }) => name);
  output.result(
    { server: connection.server.href, user: connection.login.user, collections: names, file },
    `${connection.login.user} may deposit at ${connection.server.href} in: ${names.join(', ') || 'no collection'}`,
    `Kept in ${file}.`,
  );
  return EXIT.done;
}
