import type { ReceivedContent } from '../../deposits/client-write.ts';
import type { ServiceContext } from '../service-context.ts';
import type { Accepted } from './deposit-request.ts';
import type { AnnouncedArchive } from './receive-archive.ts';
import type { BodyOfWrite, ReceiveOptions } from './receive-content.ts';

/** Where archives come from that a request names in place of a body. */
export interface ArchiveSource {
  /**
   * Stores the archive that the request names. No other request can name it until this one is answered.
   * @throws {SwordError} 400, 404, 409, 415
   */
  receive(
    ctx: ServiceContext,
    named: string,
    announced: Pick<AnnouncedArchive, 'md5' | 'digests'> & Pick<BodyOfWrite, 'isRepetition'>,
    accepted: Accepted,
    options: ReceiveOptions,
  ): Promise<ReceivedContent>;
}
