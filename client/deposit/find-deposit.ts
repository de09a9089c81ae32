import { type Receipt, readReceipt } from '../documents/deposit-documents.ts';
import {
  type Collection,
  chooseCollection,
  fetchServiceDocument,
  type ServiceDocument,
} from '../documents/service-document.ts';
import { about, Fault, UsageFault } from '../faults.ts';
import type { Connection } from '../http/connection.ts';
import { Refused } from '../http/refused.ts';
import { isOnSameServer } from '../http/same-server.ts';
import { openSession, type Session, type SessionOptions } from '../session.ts';

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

/** A session for one deposit. */
export type OpenedDeposit = Session & Receipt;

/**
 * Runs work in a session for the deposit that the only argument names, and adds its number to faults of the work.
 * @throws {UsageFault}
 */
export async function withDeposit(
  positionals: readonly string[],
  values: SessionOptions,
  work: (opened: OpenedDeposit) => Promise<number>,
): Promise<number> {
  const wanted = onlyDeposit(positionals);
  const session = await openSession(values);
  const found = await findDeposit(session.connection, wanted, values.collection);
  return about(found.deposit, () => work({ ...session, ...found }));
}

function onlyDeposit(positionals: readonly string[]): string {
  const [deposit, ...more] = positionals;
  if (deposit === undefined) throw new UsageFault('No deposit given: give its number or Edit-IRI.');
  if (more.length > 0) throw new UsageFault(`Unexpected argument '${more.join(' ')}': give one deposit.`);
  return deposit;
}

/**
 * Finds a deposit by its number, or by its Edit-IRI as in the `Location` of a receipt. The number is searched for in
 * the given collection, or in all collections of the service document.
 */
async function findDeposit(
  connection: Connection,
  wanted: string,
  collection: string | undefined,
): Promise<Receipt> {
  if (/^https?:\/\//.test(wanted)) {
    if (!isOnSameServer(wanted, connection.server))
      throw new UsageFault(
        `${wanted} is not on ${connection.server.origin}: give the server of the deposit as --server.`,
      );
    return readReceipt(await connection.get(wanted), wanted);
  }
  if (!/^[1-9][0-9]*$/.test(wanted)) throw new UsageFault(`'${wanted}' is not a deposit number or Edit-IRI.`);
  const document = await fetchServiceDocument(connection);
  for (const { iri } of candidates(document, collection)) {
    const deposit = await inCollection(connection, iri, wanted);
    if (deposit) return deposit;
  }
  const where = candidates(document, collection).map(({ name }) => name);
  throw new Fault(`Deposit ${wanted} of ${connection.login.user} not found in ${where.join(', ')}.`);
}

function candidates(document: ServiceDocument, collection: string | undefined): readonly Collection[] {
  if (collection === undefined && document.collections.length > 0) return document.collections;
  return [chooseCollection(document, collection)];
}

/**
 * Reads a deposit by its number. No document leads from a number to a deposit, so only this function builds paths of
 * the interface itself.
 */
async function inCollection(
  connection: Connection,
  collection: string,
  deposit: string,
): Promise<Receipt | null> {
  const at = (end: string) => new URL(`${deposit}/${end}/`, collection.replace(/\/?$/, '/')).href;
  const edit = at('metadata');
  const answer = await connection.ask('GET', edit, {
    headers: { Accept: 'application/xml' },
    repeatable: true,
  });
  if (answer.status === 404) return null;
  if (answer.status === 200) return readReceipt(answer, edit);
  if (answer.status !== 405) throw new Refused(answer);
  // The basic interface has no GET of the Edit-IRI; a missing deposit has no status, either.
  const state = at('status');
  const status = await connection.ask('GET', state, { repeatable: true });
  if (status.status === 404) return null;
  if (status.status > 299) throw new Refused(status);
  const links = { edit, add: edit, media: at('media'), state, statement: null, history: null };
  return { deposit, status: null, archive: undefined, links, etag: null };
}
