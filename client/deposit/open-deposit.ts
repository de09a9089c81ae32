import { UsageFault } from '../faults.ts';
import { openSession, type Session, type SessionOptions } from '../session.ts';
import { type FoundDeposit, findDeposit } from './find-deposit.ts';

/** What a command about one deposit works with: the deposit that its arguments name. @throws {UsageFault} */
export async function openDeposit(
  wanted: string,
  values: SessionOptions & { readonly collection?: string | undefined },
): Promise<Session & FoundDeposit> {
  const session = await openSession(values);
  return { ...session, ...(await findDeposit(session.connection, wanted, values.collection)) };
}

/** The one deposit that a command is about. @throws {UsageFault} */
export function onlyDeposit(positionals: readonly string[]): string {
  const [deposit, ...more] = positionals;
  if (deposit === undefined) throw new UsageFault('The number of the deposit is missing.');
  if (more.length > 0) throw new UsageFault(`Only one deposit is expected, not ${more.join(' ')} as well.`);
  return deposit;
}
