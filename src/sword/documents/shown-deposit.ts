/** What the documents about a deposit are made from; each takes the part it shows. Times are RFC 3339 in UTC. */
export type ShownDeposit = {
  readonly depositId: number;
  readonly uuid: string;
  readonly collection: string;
  /** From its metadata; `null` while there is none. */
  readonly title: string | null;
  /** The depositing client. */
  readonly author: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** What the EM-IRI gives: the name of the latest archive, and the media type of the answer. */
  readonly archive: { readonly filename: string; readonly mediaType: string } | null;
  readonly status: DepositStatus;
  readonly statusDetail: string;
  /** Identifier of the loaded content, alone and with its qualifiers, once the status is done. */
  readonly loaded: { readonly refId: string; readonly refIdContext: string } | null;
};

export type DepositStatus = 'partial' | 'deposited' | 'rejected' | 'verified' | 'loading' | 'done' | 'failed';

export function titleOf({ title, depositId }: Pick<ShownDeposit, 'title' | 'depositId'>): string {
  return title ?? `Deposit ${depositId}`;
}

export function urnOf({ uuid }: Pick<ShownDeposit, 'uuid'>): string {
  return `urn:uuid:${uuid}`;
}
