import type { Archive } from '../../domain/deposit/events.ts';
import type { ServiceContext } from '../service-context.ts';
import type { Accepted } from './deposit-request.ts';
import type { AnnouncedArchive } from './receive-archive.ts';
import type { ReceiveOptions } from './receive-content.ts';

/** An archive that a request names in place of a body. No other request can name it until this one is answered. */
export interface NamedArchive extends Disposable {
  /**
   * Runs the append that names the archive in the log. After it the archive is used, and cannot be named again. If the
   * append fails, it can be.
   */
  record<Outcome>(
    requestId: string,
    append: () => Promise<Outcome>,
    depositOf: (outcome: Outcome) => number,
  ): Promise<Outcome>;
}

/** Where named archives come from. */
export interface ArchiveSource {
  /**
   * Stores the archive that the request names, and sets `ctx.state.namedArchive`.
   * @throws {SwordError} 400, 404, 409, 415
   */
  receive(
    ctx: ServiceContext,
    named: string,
    announced: Pick<AnnouncedArchive, 'md5' | 'digests'>,
    accepted: Accepted,
    options: ReceiveOptions,
  ): Promise<Archive>;
}
