/**
 * Output of a command. Results go to standard output, as lines for people or, with `--json`, as one JSON object each;
 * progress messages go to standard error.
 */
export class Output {
  readonly json: boolean;

  constructor(json: boolean) {
    this.json = json;
  }

  /** Prints one result. */
  result(facts: Readonly<Record<string, unknown>>, ...lines: readonly string[]): void {
    if (this.json) process.stdout.write(`${JSON.stringify(facts)}\n`);
    else for (const line of lines) process.stdout.write(`${printable(line)}\n`);
  }

  /** Prints a message for people. */
  note(text: string): void {
    // A progress bar may occupy the line.
    process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${printable(text)}\n`);
  }
}

/** Replaces control characters of servers, archives and files, which could control the terminal, by U+FFFD. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

/** Formats a count with its noun: "1 file", "1,200 files". */
export function pluralize(number: number, what: string): string {
  return `${formatNumber(number)} ${what}${number === 1 ? '' : 's'}`;
}

export function formatNumber(number: number): string {
  return number.toLocaleString('en');
}
