import type { Credential } from '../../src/domain/client/client.ts';

/**
 * Credential of the password `secret`, at the costs of `src/tools/password.ts`: deriving it for each client would take
 * most of the time of the suite.
 */
export const secretCredential: Credential = {
  scheme: 'scrypt',
  N: 32768,
  r: 8,
  p: 3,
  salt: '7OUZh12GS77qPF8ucQp09A==',
  digest: 'Imim5Gkwjr/cXPlxxe8ryUC3MAk4nxeyxHQjIbMiAT0=',
};
