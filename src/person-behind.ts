import { userInfo } from 'node:os';

/** The name of whoever runs this process; behind sudo, of who called it. */
export function personBehind({ SUDO_USER }: NodeJS.ProcessEnv): string {
  return SUDO_USER || nameOfUser();
}

function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.()}`; // as containers may be run with, it has no name
  }
}
