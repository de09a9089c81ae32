import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageFault } from './faults.ts';

/** A stream that may be a terminal. */
type Keyboard = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/**
 * Prompts for the password at the terminal, without echo.
 * @throws {UsageFault} there is no terminal, or no password was entered.
 */
export async function promptForPassword(
  user: string,
  server: URL,
  keyboard: Keyboard = process.stdin,
): Promise<string> {
  if (!keyboard.isTTY) {
    throw new UsageFault(
      'No password given: use --password-stdin, set SWORD_PASSWORD_FILE or SWORD_PASSWORD, or run deposit login.',
    );
  }
  process.stderr.write(`Password for ${user} at ${server.host}: `);
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() });
  const terminal = createInterface({ input: keyboard, output: nowhere, terminal: true });
  const ended = new AbortController();
  terminal.once('SIGINT', () => ended.abort()); // Ctrl-C; Ctrl-D closes by itself
  try {
    return await terminal.question('', { signal: ended.signal });
  } catch (error) {
    throw (error as Error).name === 'AbortError' ? new UsageFault('No password entered.') : error;
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
