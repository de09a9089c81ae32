/** A header as `node:http` hands it over: bytes as latin1 characters, several of a name perhaps as an array. */
export type RawHeader = string | readonly string[] | undefined;

/** The value without surrounding blanks; a header sent twice reads as a list. `undefined` when it was not sent. */
export function headerText(raw: RawHeader): string | undefined {
  if (raw === undefined) return undefined;
  return (typeof raw === 'string' ? raw : raw.join(', ')).trim();
}
