/** Meaning of each exit code; `--help` and docs/deposit-command.md list the same. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  rejected: 3,
  identifierDiffers: 4,
  unreachable: 5,
} as const;

/** An error that ends the command with a message and an exit code. */
export class Fault extends Error {
  override readonly name: string = 'Fault';
  readonly exitCode: number;
  /** Number or Edit-IRI of the deposit, if it exists nevertheless. */
  deposit: string | null = null;

  constructor(
    message: string,
    { exitCode = EXIT.failed, cause }: { exitCode?: number; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
  }

  /** Returns the fields that `--json` prints in addition to the message. */
  facts(): Readonly<Record<string, unknown>> {
    return { deposit: this.deposit === null ? null : numberOrIri(this.deposit) };
  }
}

/** Returns what names a deposit as JSON has it: its number or, on other servers, its Edit-IRI. */
export function numberOrIri(deposit: string): number | string {
  return /^[0-9]+$/.test(deposit) ? Number(deposit) : deposit;
}

/** Runs work about an existing deposit, and adds its number to faults. */
export async function about<Result>(deposit: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault) error.deposit = deposit;
    throw error;
  }
}

/** Invalid arguments of the command. */
export class UsageFault extends Fault {
  override readonly name = 'UsageFault';

  constructor(message: string) {
    super(message, { exitCode: EXIT.usage });
  }
}

/** The server could not be reached, or its answer did not arrive. */
export class Unreachable extends Fault {
  override readonly name = 'Unreachable';

  constructor(message: string, cause: unknown) {
    super(message, { exitCode: EXIT.unreachable, cause });
  }
}

/** Returns the text of a system error, such as that of a missing file. */
export function reasonOf(error: unknown): string {
  const { message } = error as Error;
  // Node writes "ENOENT: no such file or directory, open 'x'".
  return message.replace(/^[A-Z0-9_]+: /, '').replace(/(?:\.|, \w+(?: '.*')?)$/s, '');
}

/** Runs what reads a file. @throws {Fault} in place of an error of the system. */
export async function reading<Result>(name: string, read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : unreadable(name, error);
  }
}

export function unreadable(name: string, error: unknown): Fault {
  return new Fault(`${name} cannot be read: ${reasonOf(error)}.`, { cause: error });
}
