/** Returns whether the text is a SHA-256 as the log and the stores write it: 64 lower-case hex digits. */
export function isSha256(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
