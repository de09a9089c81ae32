import type { ArchiveLimits, ArchiveReader, Inspection, Overlay } from '../../archives/inspection.ts';
import type { LocalSource } from '../../object-store/object-store.ts';
import { inSpan } from '../../tools/span.ts';

/**
 * Wraps each read of an archive and each merge of listings in a span, which begins with the wait for a
 * thread.
 */
export class TracedArchiveReader implements ArchiveReader {
  readonly #reader: ArchiveReader;

  constructor(reader: ArchiveReader) {
    this.#reader = reader;
  }

  inspect(source: LocalSource, sha256: string, limits: ArchiveLimits, owner?: string): Promise<Inspection> {
    return inSpan('read archive', { attributes: { 'deposit.object': sha256 } }, async (span) => {
      const inspection = await this.#reader.inspect(source, sha256, limits, owner);
      span.setAttributes({
        'deposit.outcome': inspection.outcome,
        'deposit.format': String(inspection.format),
      });
      return inspection;
    });
  }

  overlay(
    listings: readonly { readonly sha256: string; readonly listing: Uint8Array; readonly name?: string }[],
    owner?: string,
  ): Promise<Overlay> {
    return inSpan(
      'overlay listings',
      { attributes: { 'deposit.archives': listings.length } },
      async (span) => {
        const overlay = await this.#reader.overlay(listings, owner);
        span.setAttribute('deposit.outcome', overlay.outcome);
        return overlay;
      },
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#reader[Symbol.asyncDispose]());
  }
}
