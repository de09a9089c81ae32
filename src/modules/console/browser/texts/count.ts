/** Formats a number with separators of thousands. */
export function numberText(number: number): string {
  return number.toLocaleString('en');
}

/** Returns a number with its noun, such as `1 file` or `2,000 files`. */
export function countText(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? '' : 's'}`;
}
