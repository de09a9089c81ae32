import type { DepositService } from '../../../deposits/deposit-service.ts';
import type { Archive } from '../../../domain/deposit/events.ts';
import type { NamedArchive } from '../../../http/requests/archive-source.ts';
import type { Iris } from '../../../sword/iris.ts';
import { notFound, SwordError } from '../../../sword/sword-error.ts';
import type { ResumableUploads, UploadOwner } from '../resumable-uploads.ts';
import type { Upload } from '../upload.ts';
import type { UploadLock } from '../upload-locks.ts';

/** The uploads that requests may name instead of carrying an archive. */
export type NameableUploads = {
  readonly uploads: ResumableUploads;
  readonly depositService: DepositService;
  readonly iris: Iris;
};

/**
 * An upload that a request has named: no other request can, until this one lets go. What it becomes an archive of
 * is recorded once, whatever happens to the process: before the append it is claimed for the request, and who finds
 * the claim later asks the log whether the request has come to pass.
 */
export class ClaimedUpload implements NamedArchive {
  readonly upload: Upload;
  readonly #hold: UploadLock;
  readonly #depositService: DepositService;
  #sha256 = '';

  /** @throws {SwordError} 404; 409: it is not whole, or another request is at it. */
  static async claim(id: string, owner: UploadOwner, from: NameableUploads): Promise<ClaimedUpload> {
    const { uploads, depositService } = from;
    const upload = uploads.find(id, owner);
    if (!upload) throw noUpload(id, owner.collection);
    if (uploads.isHeld(upload)) throw conflict('Another request is at this upload: wait until it has ended.');
    const inUse = new ClaimedUpload(upload, await uploads.hold(upload), depositService);
    try {
      await inUse.#settle();
      await assertUsable(upload);
      assertWhole(upload);
      return inUse;
    } catch (error) {
      inUse[Symbol.dispose]();
      throw error;
    }
  }

  private constructor(upload: Upload, hold: UploadLock, depositService: DepositService) {
    this.upload = upload;
    this.#hold = hold;
    this.#depositService = depositService;
  }

  /** Hands its bytes to what stores them. */
  async store(put: (bytes: AsyncIterable<Buffer>) => Promise<Archive>): Promise<Archive> {
    const archive = await put(this.upload.bytes());
    this.#sha256 = archive.sha256;
    return archive;
  }

  /**
   * Runs what names the upload in the log: afterwards it is used. When that fails it can be named again, unless the
   * log does not tell whether it has failed: then this is found out when it is named again. One that was used before
   * stays what it is.
   */
  async record<Outcome>(
    requestId: string,
    append: () => Promise<Outcome>,
    depositOf: (outcome: Outcome) => number,
  ): Promise<Outcome> {
    if (this.upload.state.status === 'used') return append();
    const after = this.#depositService.lastSeen ?? null;
    const sha256 = this.#sha256;
    await this.upload.setState({ status: 'claimed', claim: { requestId, after, sha256 } });
    try {
      const outcome = await append();
      // It is recorded: what fails from here on is made up for by the claim.
      await this.upload.use(depositOf(outcome), sha256).catch(() => undefined);
      return outcome;
    } catch (error) {
      // An append whose outcome is unknown may come to pass yet: that is looked at when the upload is named again.
      if (!isUnknown(error)) await this.#settle().catch(() => undefined);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#hold[Symbol.dispose]();
  }

  async #settle(): Promise<void> {
    const { state } = this.upload;
    if (state.status !== 'claimed') return;
    const { requestId, after, sha256 } = state.claim;
    const seen = typeof after === 'string' ? null : after;
    const depositId = await this.#depositService.findByCorrelation(requestId, seen ?? undefined);
    if (depositId === undefined) await this.upload.setState({ status: 'open' });
    else await this.upload.use(depositId, sha256);
  }
}

/** Returns the error for an upload that is an archive of a deposit already, if the log confirms it. */
export async function alreadyUsedError(
  { record: { id, client, collection } }: Upload,
  { depositId, sha256 }: { readonly depositId: number; readonly sha256: string },
  { depositService, iris }: NameableUploads,
): Promise<SwordError> {
  if (!(await depositService.hasArchive(depositId, client, sha256))) return noUpload(id, collection);
  const text = `The upload ${id} is an archive of deposit ${depositId} already.`;
  return conflict(text, { Link: `<${iris.edit(collection, depositId)}>; rel="edit"` });
}

function noUpload(id: string, collection: string): SwordError {
  return notFound(`There is no upload ${id} in the collection ${collection}, or no more.`);
}

/** @throws {SwordError} 409: a write has failed, and what it may have left cannot be cut off. */
async function assertUsable(upload: Upload): Promise<void> {
  try {
    await upload.cutSurplus();
  } catch (cause) {
    const text = `The upload ${upload.id} cannot be used until a failed write is undone: ask for its offset by HEAD and continue there later.`;
    throw new SwordError('Conflict', text, { cause });
  }
}

function assertWhole({ id, state, offset, length }: Upload): void {
  if (state.status === 'used' || offset === length) return;
  throw conflict(`The upload ${id} has ${offset} of its ${length} bytes: send the rest of it first.`);
}

function isUnknown(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EVENT_LOG_UNAVAILABLE';
}

function conflict(summary: string, headers: Record<string, string> = {}): SwordError {
  return new SwordError('Conflict', summary, { headers });
}
