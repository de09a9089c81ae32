import { createCipheriv, createDecipheriv } from 'node:crypto';
import path from 'node:path';
import { codedError } from '../../../tools/coded-error.ts';
import { makeKeyFile, readKeyFile } from '../../../tools/files/key-file.ts';
import { random } from '../../../tools/random.ts';

const [KEY_BYTES, IV_BYTES, TAG_BYTES] = [32, 12, 16];
/** Binds a sealed text to its purpose and form. */
const PURPOSE = Buffer.from('deposit-console-session-1');

/** Seals sessions into cookies, with AES-256-GCM. Nodes with the same key file accept each other's. */
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

  seal(text: string): string {
    const iv = random.bytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(PURPOSE);
    const sealed = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed).toString('base64url');
  }

  /** Returns the text, or `undefined` if this key did not seal it. */
  open(sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < IV_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, IV_BYTES))
      .setAAD(PURPOSE)
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return (
        decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      );
    } catch {
      return undefined;
    }
  }
}
