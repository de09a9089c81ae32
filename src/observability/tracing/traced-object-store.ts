import type { Readable } from 'node:stream';
import { ForwardingObjectStore } from '../../object-store/forwarding-object-store.ts';
import type { ExpectedContent, LocalObject, StoredObject } from '../../object-store/object-store.ts';
import { inSpan } from '../../tools/span.ts';

/** Wraps each operation of the store in a span. */
export class TracedObjectStore extends ForwardingObjectStore {
  /** Wraps a put in a span, which includes the wait for its bytes. */
  override put(source: AsyncIterable<Uint8Array>, promised?: ExpectedContent): Promise<StoredObject> {
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

  override materialize(sha256: string): Promise<LocalObject> {
    return ofObject('check_out', sha256, () => super.materialize(sha256));
  }
}

function ofObject<Result>(operation: string, sha256: string, work: () => Promise<Result>): Promise<Result> {
  return inSpan(`archive store ${operation}`, { attributes: { 'deposit.object': sha256 } }, work);
}
