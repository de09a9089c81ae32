/** Returns an error that programs recognise by its code. */
export function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
