import { ObjectStoreUnavailable } from '../../object-store/object-store.ts';
import { shortReason } from '../../object-store/store-errors.ts';

/**
 * Settles like `work` on the store into which objects are copied. Its error names the target: the archive store is that
 * of the service for operators.
 */
export function onTarget<T>(work: Promise<T>, target = 'The target'): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof ObjectStoreUnavailable) || error.cause === undefined) throw error;
    const text = `${target} cannot be written to: ${shortReason(error.cause)}.`;
    throw new ObjectStoreUnavailable(text, { cause: error.cause });
  });
}
