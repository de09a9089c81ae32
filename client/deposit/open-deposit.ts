import type { Receipt } from '../documents/deposit-documents.ts';
import { UsageFault } from '../faults.ts';
import { openSession, type Session, type SessionOptions } from '../session.ts';
import { findDeposit } from './find-deposit.ts';

/** Opens a session for the deposit that the arguments name. @throws {UsageFault} */
export async function openDeposit(wanted: string, values: SessionOptions): Promise<Session & Receipt> {
  const session = await openSession(values);
  return { ...session, ...(await findDeposit(session.connection, wanted, values.collection)) };
}

/** Returns the only argument, which names a deposit. @throws {UsageFault} */
export function onlyDeposit(positionals: readonly string[]): string {
  const [deposit, ...more] = positionals;
  if (deposit === undefined) throw new UsageFault('No deposit given: give its number or Edit-IRI.');
  if (more.length > 0) throw new UsageFault(`Unexpected argument '${more.join(' ')}': give one deposit.`);
  return deposit;
}
