import type { Credential } from '../../src/domain/client/client.ts';
import { credentialOf, type PasswordCost } from '../../src/tools/cryptography/password.ts';

/** Costs of the logins in tests: those of the service would take a third of the time of the suite. */
export const QUICK_COST: PasswordCost = { N: 256, r: 8, p: 1 };

/** Credential of the password `secret` at {@link QUICK_COST}. */
export const quickCredential: Credential = {
  scheme: 'scrypt',
  ...QUICK_COST,
  salt: '7OUZh12GS77qPF8ucQp09A==',
  digest: 'M4uVbOxDalz/Tyi3mm1kYH5w2CpdbDUwO5/PJkLfLCY=',
};

/** Hashes a password at {@link QUICK_COST}. */
export function quickCredentialOf(password: string): Promise<Credential> {
  return credentialOf(password, QUICK_COST);
}

/** Credential of the password `secret` at the costs of the service. */
export const secretCredential: Credential = {
  scheme: 'scrypt',
  N: 32768,
  r: 8,
  p: 3,
  salt: '7OUZh12GS77qPF8ucQp09A==',
  digest: 'Imim5Gkwjr/cXPlxxe8ryUC3MAk4nxeyxHQjIbMiAT0=',
};
