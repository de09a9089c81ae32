import { isUtf8 } from 'node:buffer';

/** The name and the password in an `Authorization` header. */
export type BasicCredentials = { readonly name: string; readonly password: string };

/**
 * Returns `undefined` unless the header has a name and a password. Programs in Python send Latin-1, whatever charset the
 * challenge names, so what is not UTF-8 is read as that.
 */
export function parseBasic(authorization: string | undefined): BasicCredentials | undefined {
  const [, base64] = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization ?? '') ?? [];
  if (base64 === undefined) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  const colon = text.indexOf(':');
  return colon < 1 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
