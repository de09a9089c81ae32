/** A header as `node:http` provides it: bytes as latin1 characters, repeated headers possibly as an array. */
export type RawHeader = string | readonly string[] | undefined;

/** Returns the value without surrounding blanks, repeated headers as a list; `undefined` if it was not sent. */
export function headerText(raw: RawHeader): string | undefined {
  if (raw === undefined) return undefined;
  return (typeof raw === 'string' ? raw : raw.join(', ')).trim();
}
