/**
 * Prints the progress on standard error: on a terminal in one line that is overwritten, else in a line every few
 * seconds.
 */
export class ProgressLine {
  #printedAt = -Infinity;

  tell(text: string): void {
    const { stderr } = process;
    if (stderr.isTTY) {
      stderr.write(`\r\x1b[K${text.slice(0, (stderr.columns || 80) - 1)}`);
      return;
    }
    const now = performance.now();
    if (now - this.#printedAt < NEXT_LINE) return;
    this.#printedAt = now;
    stderr.write(`${text}\n`);
  }

  /** Clears the line for the next output. */
  clear(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }
}

/** Milliseconds between two lines if there is no terminal. */
const NEXT_LINE = 5000;
