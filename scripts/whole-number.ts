/** A number from 1 as a person writes it, as that of a deposit; `undefined` for all else, as `01`, `1e0` or `0x1`. */
export function wholeNumber(text: string): number | undefined {
  const number = /^[1-9]\d*$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}
