/** What each exit code means; `--help` and docs/client.md say the same. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  rejected: 3,
  identifierDiffers: 4,
  unreachable: 5,
} as const;

/** Something that ends the command with one sentence, or a few, and its exit code. */
export class Fault extends Error {
  override readonly name: string = 'Fault';
  readonly exitCode: number;
  /** Number of the deposit that is there all the same. */
  deposit: string | null = null;

  constructor(
    message: string,
    { exitCode = EXIT.failed, cause }: { exitCode?: number; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
  }

  /** What `--json` tells beside the message. */
  facts(): Readonly<Record<string, unknown>> {
    return { deposit: this.deposit === null ? null : Number(this.deposit) };
  }
}

/** Does what is about a deposit that is there: a fault of it names that. */
export async function about<Result>(deposit: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault) error.deposit = deposit;
    throw error;
  }
}

/** A mistake in how the command was called. */
export class UsageFault extends Fault {
  override readonly name = 'UsageFault';

  constructor(message: string) {
    super(message, { exitCode: EXIT.usage });
  }
}

/** The server could not be asked, or its answer did not come. */
export class Unreachable extends Fault {
  override readonly name = 'Unreachable';

  constructor(message: string, cause?: unknown) {
    super(message, { exitCode: EXIT.unreachable, cause });
  }
}

/** The sentence of an error of the system, such as of a file that is not there. */
export function reasonOf(error: unknown): string {
  const { message } = error as Error;
  // Node writes "ENOENT: no such file or directory, open 'x'".
  return message.replace(/^[A-Z0-9_]+: /, '').replace(/, \w+(?: '.*')?$/s, '');
}
