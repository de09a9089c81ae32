import type { Receipt } from '../documents/deposit-documents.ts';
import {
  type Collection,
  chooseCollection,
  fetchServiceDocument,
  type ServiceDocument,
} from '../documents/service-document.ts';
import type { Connection } from '../http/connection.ts';
import { findDeposit } from './find-deposit.ts';

/** Destination of an upload. */
export type Target = {
  readonly service: ServiceDocument;
  readonly collection: Collection;
  /** The existing deposit to add to, if any. */
  readonly existing: Receipt | null;
};

export async function targetOf(
  connection: Connection,
  deposit: string | undefined,
  wanted: string | undefined,
): Promise<Target> {
  const service = await fetchServiceDocument(connection);
  const existing = deposit === undefined ? null : await findDeposit(connection, deposit, wanted);
  const own = service.collections.find(({ iri }) => existing?.links.edit.startsWith(iri));
  return { service, collection: own ?? chooseCollection(service, wanted), existing };
}
