/**
 * Parses a number from 1 in decimal notation, such as that of a deposit. Returns `undefined` for anything else, such as
 * `01`, `1e0` or `0x1`.
 */
export function wholeNumber(text: string): number | undefined {
  const number = /^[1-9]\d*$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}
