import type { Status } from '../../domain/deposit/status-detail.ts';
import { element } from '../xml/xml-body.ts';
import { authorFact, type Fact, onlyXml, text } from './document.ts';

/** Facts of a deposit that its documents show; each document uses a part. Times are RFC 3339 in UTC. */
export type DepositModel = {
  readonly depositId: number;
  readonly uuid: string;
  readonly collection: string;
  /** Title from the metadata; `null` before there are any. */
  readonly title: string | null;
  /** The depositing client. */
  readonly client: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Content at the EM-IRI: the name of the latest archive, and the media type of the response. */
  readonly archive: { readonly filename: string; readonly mediaType: string } | null;
  readonly status: Status;
  readonly statusDetail: string;
  /** Identifiers of the loaded content or, of metadata alone, of the object they describe; `null` for an origin. */
  readonly loaded: { readonly refId: string; readonly refIdContext: string } | null;
};

/** Returns the facts with which every document about a deposit begins. */
export function headFacts(deposit: Pick<DepositModel, 'depositId' | 'uuid' | 'title' | 'updatedAt'>): Fact[] {
  return [text('id', urnOf(deposit)), text('title', titleOf(deposit)), text('updated', deposit.updatedAt)];
}

/** Returns what Atom requires of an entry without content: its author and a link to it (RFC 4287, 4.1.2). */
export function atomFacts({ client }: Pick<DepositModel, 'client'>, iri: string): Fact[] {
  return [authorFact(client), onlyXml(element('link', '', { rel: 'alternate', href: iri }))];
}

export function titleOf({ title, depositId }: Pick<DepositModel, 'title' | 'depositId'>): string {
  return title ?? `Deposit ${depositId}`;
}

export function urnOf({ uuid }: Pick<DepositModel, 'uuid'>): string {
  return `urn:uuid:${uuid}`;
}
