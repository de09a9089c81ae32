import { hash } from 'node:crypto';
import type { SealedSecret } from '../../domain/client/webhook.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { KEY_BYTES, seal, unseal } from '../../tools/cryptography/aes-gcm.ts';
import { makeKeyFile, readKeyFile } from '../../tools/files/key-file.ts';
import { random } from '../../tools/random.ts';

/** Thrown when the key is missing, malformed, or not the one that sealed the secret. */
export class WebhookKeyProblem extends errorsOfCode('WEBHOOK_KEY') {}

/** Seals the secrets of webhooks, so that the log has none in plain text; each opens for its client only. */
export class WebhookKey {
  readonly #key: Buffer;
  readonly #id: string;

  /** Returns the key in the file. Creates it, durable and readable by its owner only, if the file does not exist. */
  static async make(file: string): Promise<WebhookKey> {
    if ((await textIn(file)) === undefined)
      await makeKeyFile(file, `${random.bytes(KEY_BYTES).toString('base64')}\n`);
    return WebhookKey.read(file);
  }

  /** Reads the key. @throws {WebhookKeyProblem} */
  static async read(file: string): Promise<WebhookKey> {
    const text = await textIn(file);
    if (text === undefined) throw new WebhookKeyProblem(`The key of webhooks, ${file}, is missing.`);
    const key = Buffer.from(text.trim(), 'base64');
    if (key.length === KEY_BYTES) return new WebhookKey(key);
    throw new WebhookKeyProblem(`${file} is not a webhook key: expected 32 bytes in base64.`);
  }

  private constructor(key: Buffer) {
    this.#key = key;
    this.#id = hash('sha256', key).slice(0, 16);
  }

  seal(secret: string, client: string): SealedSecret {
    const { iv, ciphertext, tag } = seal(secret, this.#key, client);
    return {
      scheme: 'aes-256-gcm',
      keyId: this.#id,
      iv: iv.toString('base64'),
      ciphertext: ciphertext.toString('base64'),
      tag: tag.toString('base64'),
    };
  }

  /** Opens a sealed secret. @throws {WebhookKeyProblem} */
  open({ keyId, iv, ciphertext, tag }: SealedSecret, client: string): string {
    if (keyId !== this.#id) {
      const text = `The webhook secret of ${client} was sealed with the key ${keyId}, not with ${this.#id}.`;
      throw new WebhookKeyProblem(`${text} Restore that key or set the webhook again.`);
    }
    const sealed = {
      iv: Buffer.from(iv, 'base64'),
      ciphertext: Buffer.from(ciphertext, 'base64'),
      tag: Buffer.from(tag, 'base64'),
    };
    try {
      return unseal(sealed, this.#key, client);
    } catch (cause) {
      throw new WebhookKeyProblem(`The webhook secret of ${client} is corrupt.`, { cause });
    }
  }
}

async function textIn(file: string): Promise<string | undefined> {
  return readKeyFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new WebhookKeyProblem(`The key of webhooks, ${file}, cannot be read (${cause.code}).`, { cause });
  });
}
