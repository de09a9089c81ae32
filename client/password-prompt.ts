import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageFault } from './faults.ts';

/** Asks the person at the terminal, without showing what is typed. @throws {UsageFault} there is no terminal. */
export async function promptForPassword(user: string, server: URL): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new UsageFault(
      'No password is known: give --password-stdin, set SWORD_PASSWORD_FILE or SWORD_PASSWORD, or run deposit login.',
    );
  }
  process.stderr.write(`Password of ${user} at ${server.host}: `);
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  const interrupted = new Promise<never>((_resolve, reject) => {
    terminal.once('SIGINT', () => reject(new UsageFault('No password was given.')));
  });
  try {
    return await Promise.race([terminal.question(''), interrupted]);
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
