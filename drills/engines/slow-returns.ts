/** Limit until the first 201 after the log is back, in milliseconds. */
const LONGEST_RETURN_MS = 3000;

/** Returns a sentence for each time, in milliseconds, that exceeds the limit. */
export function slowerThan(returns: readonly number[], event: string): string[] {
  return returns
    .filter((time) => time > LONGEST_RETURN_MS)
    .map(
      (time) =>
        `The first 201 came ${Math.round(time)} ms after ${event}, later than ${LONGEST_RETURN_MS} ms.`,
    );
}
