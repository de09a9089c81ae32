/**
 * What the command tells. Results go to standard output, as lines for people or, with `--json`, as one JSON
 * object each; what happens on the way goes to standard error.
 */
export class Output {
  readonly json: boolean;

  constructor(json: boolean) {
    this.json = json;
  }

  /** One result. */
  result(facts: Readonly<Record<string, unknown>>, ...lines: readonly string[]): void {
    if (this.json) process.stdout.write(`${JSON.stringify(facts)}\n`);
    else for (const line of lines) process.stdout.write(`${printable(line)}\n`);
  }

  /** Something on the way, for people. */
  note(text: string): void {
    // A progress bar may stand in the line.
    process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${printable(text)}\n`);
  }
}

/** What servers, archives and files say may hold bytes that would steer the terminal: they are shown as U+FFFD. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

/** As in "1 file" and "1,200 files". */
export function counted(number: number, what: string): string {
  return `${grouped(number)} ${what}${number === 1 ? '' : 's'}`;
}

export function grouped(number: number): string {
  return number.toLocaleString('en');
}
