/** Says on standard error how far the run is: one line that is written anew on a terminal, else a line now and then. */
export class ProgressLine {
  #toldAt = -Infinity;

  tell(text: string): void {
    const { stderr } = process;
    if (stderr.isTTY) {
      stderr.write(`\r\x1b[K${text.slice(0, (stderr.columns || 80) - 1)}`);
      return;
    }
    const now = performance.now();
    if (now - this.#toldAt < NEXT_LINE) return;
    this.#toldAt = now;
    stderr.write(`${text}\n`);
  }

  /** Leaves the terminal to what is printed next. */
  clear(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }
}

/** Milliseconds between two lines where there is no terminal. */
const NEXT_LINE = 5000;
