/** The name and the password in an `Authorization` header. */
export type BasicCredentials = { readonly name: string; readonly password: string };

/** Returns `undefined` unless the header has a name and a password. */
export function parseBasic(authorization: string | undefined): BasicCredentials | undefined {
  const [, base64] = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization ?? '') ?? [];
  if (base64 === undefined) return undefined;
  const text = Buffer.from(base64, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 1 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
