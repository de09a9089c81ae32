import type { Readable } from 'node:stream';
import type { LocalObject, Promised, StoredObject } from '../archive-store/archive-store.ts';
import { ForwardingArchiveStore } from '../archive-store/forwarding-archive-store.ts';
import { inSpan } from './span.ts';

/** What goes into the store and comes out of it is a span each. */
export class TracedArchiveStore extends ForwardingArchiveStore {
  /** As long as the bytes take to come. */
  override put(source: AsyncIterable<Uint8Array>, promised?: Promised): Promise<StoredObject> {
    return inSpan('archive store put', {}, async (span) => {
      const stored = await super.put(source, promised);
      span.setAttributes({ 'deposit.object': stored.sha256, 'deposit.bytes': stored.length });
      return stored;
    });
  }

  override get(sha256: string): Promise<{ readonly length: number; readonly body: Readable }> {
    return ofObject('get', sha256, () => super.get(sha256));
  }

  override stat(sha256: string): Promise<{ readonly length: number } | undefined> {
    return ofObject('stat', sha256, () => super.stat(sha256));
  }

  override checkOut(sha256: string): Promise<LocalObject> {
    return ofObject('check_out', sha256, () => super.checkOut(sha256));
  }
}

function ofObject<Result>(operation: string, sha256: string, work: () => Promise<Result>): Promise<Result> {
  return inSpan(`archive store ${operation}`, { attributes: { 'deposit.object': sha256 } }, work);
}
