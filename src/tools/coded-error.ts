/** An error that programs recognise by its code. Its name is that of its class. */
export class CodedError<Code extends string = string> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Returns the base of a class of errors that all have the same code. */
export function errorsOfCode<const Code extends string>(code: Code) {
  return class extends CodedError<Code> {
    constructor(message: string, options?: ErrorOptions) {
      super(code, message, options);
    }
  };
}

/** Returns an error that programs recognise by its code. */
export function codedError(code: string, message: string, options?: ErrorOptions): Error {
  return Object.assign(new Error(message, options), { code });
}

/** Returns the code of an error as text; `undefined` for any other thrown value. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** Returns the message of an error; of any other thrown value, its text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
