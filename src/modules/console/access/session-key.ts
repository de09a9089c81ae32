import path from 'node:path';
import { codedError } from '../../../tools/coded-error.ts';
import { KEY_BYTES, openToken, sealToken } from '../../../tools/cryptography/aes-gcm.ts';
import { makeKeyFile, readKeyFile } from '../../../tools/files/key-file.ts';
import { random } from '../../../tools/random.ts';

/** Binds a sealed text to its purpose and form. */
const PURPOSES = { session: 'deposit-console-session-1', code: 'deposit-console-code-1' } as const;

type Purpose = keyof typeof PURPOSES;

/** Seals sessions and sign-in codes, with AES-256-GCM. Nodes with the same key file accept each other's. */
export class SessionKey {
  readonly #key: Buffer;

  /** Reads the key in the data folder; creates it, readable only by its owner, if the file does not exist. */
  static async open(dataDir: string): Promise<SessionKey> {
    const file = path.join(dataDir, 'keys', 'console-aes256.key');
    if ((await readKeyFile(file)) === undefined)
      await makeKeyFile(file, `${random.bytes(KEY_BYTES).toString('base64')}\n`);
    const key = Buffer.from(((await readKeyFile(file)) ?? '').trim(), 'base64');
    if (key.length === KEY_BYTES) return new SessionKey(key);
    throw codedError('CONSOLE_KEY', `${file} is not a console key: expected 32 bytes in base64.`);
  }

  private constructor(key: Buffer) {
    this.#key = key;
  }

  seal(text: string, purpose: Purpose = 'session'): string {
    return sealToken(text, this.#key, PURPOSES[purpose]);
  }

  /** Returns the text, or `undefined` if this key did not seal it for the purpose. */
  open(sealed: string, purpose: Purpose = 'session'): string | undefined {
    return openToken(sealed, this.#key, PURPOSES[purpose]);
  }
}
