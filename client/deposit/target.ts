import {
  type Collection,
  chooseCollection,
  fetchServiceDocument,
  type ServiceDocument,
} from '../documents/service-document.ts';
import type { Connection } from '../http/connection.ts';
import { findDeposit } from './find-deposit.ts';
import type { ExistingDeposit } from './perform.ts';

/** Destination of an upload. */
export type Target = {
  readonly service: ServiceDocument;
  readonly collection: Collection;
  /** The existing deposit to add to, if any. */
  readonly standing: ExistingDeposit | null;
  /** Whether the upload is merged with archives on the server, so that the client does not know the whole content. */
  readonly hasArchives: boolean;
};

export async function targetOf(
  connection: Connection,
  deposit: string | undefined,
  wanted: string | undefined,
): Promise<Target> {
  const service = await fetchServiceDocument(connection);
  if (deposit === undefined)
    return { service, collection: chooseCollection(service, wanted), standing: null, hasArchives: false };
  const { links, receipt, etag, deposit: number } = await findDeposit(connection, deposit, wanted);
  const own = service.collections.find(({ iri }) => links.edit.startsWith(iri));
  return {
    service,
    collection: own ?? chooseCollection(service, wanted),
    standing: { deposit: number, links, etag, status: receipt?.status ?? null },
    hasArchives: receipt === null || receipt.archive !== null,
  };
}
