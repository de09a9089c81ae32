import { printable } from '../src/tools/terminal/printable.ts';

/**
 * Output of a command. Results go to standard output, as lines for people or, with `--json`, as one JSON object each;
 * progress messages go to standard error.
 */
export class Output {
  readonly json: boolean;

  constructor(json: boolean) {
    this.json = json;
  }

  result(facts: Readonly<Record<string, unknown>>, ...lines: readonly string[]): void {
    if (this.json) process.stdout.write(`${printable(JSON.stringify(facts))}\n`);
    else for (const line of lines) process.stdout.write(`${printable(line)}\n`);
  }

  /** Prints a message for people. */
  note(text: string): void {
    // A progress bar may occupy the line.
    process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${printable(text)}\n`);
  }
}

/** Formats a count with its noun: "1 file", "1,200 files". */
export function pluralize(number: number, what: string): string {
  return `${formatNumber(number)} ${what}${number === 1 ? '' : 's'}`;
}

export function formatNumber(number: number): string {
  return number.toLocaleString('en');
}
