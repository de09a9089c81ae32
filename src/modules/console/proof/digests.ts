export type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the SHA-256 of bytes, or of a text in UTF-8, as 64 hex digits. */
export async function sha256(content: Bytes | string): Promise<string> {
  return (await digest('SHA-256', bytesOf(content))).toHex();
}

export async function digest(algorithm: 'SHA-1' | 'SHA-256', bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest(algorithm, bytes));
}

export function joined(...parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function bytesOf(content: Bytes | string): Bytes {
  return typeof content === 'string' ? new TextEncoder().encode(content) : content;
}

/** Returns the bytes of a latin1 string, one for each character. */
export function latin1Bytes(text: string): Bytes {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
