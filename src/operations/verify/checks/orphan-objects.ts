import type { StoreAudit } from '../../../object-store/object-store.ts';
import { mapConcurrent } from '../../../tools/concurrency/limiter.ts';
import { isSha256 } from '../../../tools/cryptography/is-sha256.ts';
import type { Check, Report } from '../report.ts';
import type { ObjectProofs } from './object-proofs.ts';

const MAX_CONCURRENT = 8;

/** Checks the bytes of every object that no event references; its existence is not a fault. */
export function orphanObjects(
  store: Pick<StoreAudit, 'list'>,
  proofs: ObjectProofs,
  progress?: (objects: number) => void,
): Check {
  return async (report) => {
    let done = 0;
    const prove = async (object: string): Promise<void> => {
      const fault = await proofs.prove(object);
      const text = `The object ${object}, which no event of a deposit names, is corrupt: ${fault?.text}.`;
      // Removed since it was listed, as orphans are.
      if (fault && fault.code !== 'OBJECT_MISSING') {
        report.counts.faultyObjects += 1;
        report.find({ check: 'objects', code: fault.code, text, object });
      }
      done += 1;
      progress?.(done);
    };
    await mapConcurrent(listed(store, report), MAX_CONCURRENT, async ({ sha256 }) => {
      // Other names are reported by the check of the store itself.
      if (isSha256(sha256) && !proofs.isKnown(sha256)) await prove(sha256);
    });
  };
}

async function* listed(store: Pick<StoreAudit, 'list'>, report: Report): ReturnType<StoreAudit['list']> {
  try {
    yield* store.list();
  } catch (error) {
    const text = `Not every object of the store could be listed: ${(error as Error).message}`;
    report.find({ check: 'objects', code: 'STORE_UNREADABLE', text });
  }
}
