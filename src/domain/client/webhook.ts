/** A secret that is kept as nobody but the holder of a key can read it; base64 but for the name of the key. */
export type SealedSecret = {
  readonly scheme: 'aes-256-gcm';
  /** Names the key; says nothing of it. */
  readonly keyId: string;
  readonly iv: string;
  readonly ciphertext: string;
  readonly tag: string;
};

const LONGEST = 2000;

/** The address as it will be used, or what is wrong with it. Addresses are kept in clear: they hold no credentials. */
export function webhookUrl(text: string): { readonly url: string } | { readonly problem: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    return { problem: `"${text}" is no webhook: give an absolute https URL.` };
  }
  if (url.username !== '' || url.password !== '') {
    return {
      problem: `"${url.origin}" is given with a user name or password, which would be kept in clear.`,
    };
  }
  url.hash = '';
  if (url.href.length > LONGEST) {
    return { problem: `The webhook has ${url.href.length} characters, more than ${LONGEST}.` };
  }
  return { url: url.href };
}
