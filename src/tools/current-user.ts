import { userInfo } from 'node:os';

/** Returns the name of the user of this process; under sudo, of the user that called sudo. */
export function currentUser({ SUDO_USER }: NodeJS.ProcessEnv): string {
  return SUDO_USER || nameOfUser();
}

function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.()}`; // a container may run with a user id that has no name
  }
}
