/** An encrypted secret: only the holder of the key can read it. All fields but `keyId` and `scheme` are base64. */
export type SealedSecret = {
  readonly scheme: 'aes-256-gcm';
  /** Identifies the key without revealing anything about it. */
  readonly keyId: string;
  readonly iv: string;
  readonly ciphertext: string;
  readonly tag: string;
};

const MAX_URL_LENGTH = 2000;

/** Returns the normalized address, or the problem with it: addresses are stored in clear, so without credentials. */
export function webhookUrl(text: string): { readonly url: string } | { readonly problem: string } {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    return { problem: `"${text}" is not a webhook address: give an absolute https URL.` };
  }
  if (url.username !== '' || url.password !== '') {
    return { problem: `"${url.origin}" contains a user name or password, which would be stored in clear.` };
  }
  url.hash = '';
  if (url.href.length > MAX_URL_LENGTH) {
    return { problem: `The webhook has ${url.href.length} characters, more than ${MAX_URL_LENGTH}.` };
  }
  return { url: url.href };
}
