import type { NamedUpload } from '../../../deposits/client-write.ts';
import type { DepositQueries } from '../../../deposits/queries.ts';
import type { Archive } from '../../../domain/deposit/events.ts';
import { EventLogUnavailable } from '../../../event-log/event-log.ts';
import type { Iris } from '../../../sword/iris.ts';
import { notFound, SwordError } from '../../../sword/sword-error.ts';
import type { ResumableUploads, UploadOwner } from '../resumable-uploads.ts';
import type { Upload } from '../upload.ts';
import type { UploadLock } from '../upload-locks.ts';
import type { Claim } from '../upload-record.ts';

/** The uploads that requests may name instead of carrying an archive. */
export type NameableUploads = {
  readonly uploads: ResumableUploads;
  readonly queries: DepositQueries;
  readonly iris: Iris;
};

/**
 * An upload that a request has named: no other request can, until this one releases it. It becomes an archive of one
 * deposit, whatever happens to the process: before the append it is claimed for the command. A claim that is found later
 * is settled by reading the stream of the deposit, which shows whether the command was executed.
 */
export class ClaimedUpload implements NamedUpload, Disposable {
  readonly upload: Upload;
  readonly #hold: UploadLock;
  readonly #queries: DepositQueries;
  #sha256 = '';

  /** @throws {SwordError} 404; 409: it is not whole, or another request is at it. */
  static async claim(id: string, owner: UploadOwner, from: NameableUploads): Promise<ClaimedUpload> {
    const { uploads, queries } = from;
    const upload = uploads.find(id, owner);
    if (!upload) throw noUpload(id, owner.collection);
    if (uploads.isHeld(upload)) throw conflict('Another request uses this upload: wait until it has ended.');
    const inUse = new ClaimedUpload(upload, await uploads.hold(upload), queries);
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

  private constructor(upload: Upload, hold: UploadLock, queries: DepositQueries) {
    this.upload = upload;
    this.#hold = hold;
    this.#queries = queries;
  }

  /** Hands its bytes to what stores them. */
  async store(put: (bytes: AsyncIterable<Buffer>) => Promise<Archive>): Promise<Archive> {
    const archive = await put(this.upload.bytes());
    this.#sha256 = archive.sha256;
    return archive;
  }

  /**
   * Claims the upload, then runs the append that names it; afterwards it is used. If the append fails, the upload can be named again. If
   * the outcome is unknown, it is determined when the upload is named again.
   */
  async appendClaimed<Outcome>(
    { depositId, commandId, requestId }: Command,
    append: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const sha256 = this.#sha256;
    const claim = { depositId, commandId, requestId, after: null, sha256 };
    await this.upload.setState({ status: 'claimed', claim });
    try {
      const outcome = await append();
      // A failure from here on leaves the claim, which is settled later.
      await this.upload.use(depositId, sha256).catch(() => undefined);
      return outcome;
    } catch (error) {
      // An append whose outcome is unknown may still be executed.
      if (!(error instanceof EventLogUnavailable)) await this.#settle().catch(() => undefined);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#hold[Symbol.dispose]();
  }

  async #settle(): Promise<void> {
    const { state } = this.upload;
    if (state.status !== 'claimed') return;
    const { claim } = state;
    const depositId = await this.#depositOf(claim);
    if (depositId === undefined) await this.upload.setState({ status: 'open' });
    else await this.upload.use(depositId, claim.sha256);
  }

  async #depositOf(claim: Claim): Promise<number | undefined> {
    if (claim.commandId !== undefined)
      return (await this.#queries.wasExecuted(claim)) ? claim.depositId : undefined;
    const { requestId, after } = claim;
    const seen = typeof after === 'string' || after === null ? undefined : after;
    return this.#queries.findByCorrelation(requestId, seen);
  }
}

type Command = Parameters<NamedUpload['appendClaimed']>[0];

/** Returns the error for an upload that is an archive of a deposit already, if the log confirms it. */
export async function alreadyUsedError(
  { record: { id, client, collection } }: Upload,
  { depositId, sha256 }: { readonly depositId: number; readonly sha256: string },
  { queries, iris }: NameableUploads,
): Promise<SwordError> {
  if (!(await queries.hasArchive(depositId, client, sha256))) return noUpload(id, collection);
  const text = `The upload ${id} is an archive of deposit ${depositId} already.`;
  return conflict(text, { Link: `<${iris.edit(collection, depositId)}>; rel="edit"` });
}

function noUpload(id: string, collection: string): SwordError {
  return notFound(
    `There is no upload ${id} in the collection ${collection}; it may have been used or expired.`,
  );
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

function conflict(summary: string, headers: Record<string, string> = {}): SwordError {
  return new SwordError('Conflict', summary, { headers });
}
