/** A fixture's contents as the release that made it showed them. */
export type Expected = {
  readonly baseUrl: string;
  /** Every client has this password. */
  readonly password: string;
  readonly deposits: readonly (FrozenDeposit & {
    /** `frozen`: when the data was frozen. `finished`: after the old release had finished all open work. */
    readonly frozen: ShownDeposit;
    readonly finished: ShownDeposit;
  })[];
  /** Output of `parked list --json`. */
  readonly parked: readonly ParkedEvent[];
  readonly skipped: readonly ParkedEvent[];
  readonly retried: readonly ParkedEvent[];
  readonly uploads: readonly FrozenUpload[];
  readonly receivers: readonly FrozenReceiver[];
  /** Revisions of the events of each deposit that wait to be notified of or were given up, as frozen. */
  readonly undelivered: readonly Undelivered[];
  /** A request with an `Idempotency-Key` that was carried out. */
  readonly keyed: { readonly depositId: number; readonly key: string };
};

export type FrozenDeposit = {
  readonly label: string;
  readonly depositId: number;
  readonly client: string;
  readonly collection: string;
};

export type ShownDeposit = {
  readonly status: string;
  /** The JSON of the State-IRI; `null` if its client may not see it. */
  readonly document: Readonly<Record<string, unknown>> | null;
  /** Id, type and revision of each event, in their order. */
  readonly events: readonly { readonly id: string; readonly type: string; readonly revision: number }[];
  /** SHA-256 of each archive that its File-IRI serves, by its number. */
  readonly archives: Readonly<Record<string, string>>;
};

export type ParkedEvent = {
  readonly reactor: string;
  readonly eventId: string;
  readonly stream: string;
  readonly revision: number;
};

export type FrozenUpload = {
  readonly label: string;
  readonly id: string;
  readonly client: string;
  /** The state in its record when it was frozen. */
  readonly state: string;
  readonly length: number;
  /** The offset that HEAD answers after a restart; `null` if the upload is gone for clients. */
  readonly offset: number | null;
  /** The deposit that a request has named it for. */
  readonly depositId: number | null;
};

export type FrozenReceiver = {
  readonly client: string;
  readonly host: string;
  readonly port: number;
  /** Notifications it had accepted when the data was frozen. */
  readonly accepted: readonly Notified[];
  /** Notifications that the old release delivered after that. */
  readonly deliveredLater: readonly Notified[];
};

export type Notified = {
  /** The `webhook-id`. */
  readonly id: string;
  readonly depositId: number;
  readonly revision: number;
  readonly status: string | null;
};

export type Undelivered = {
  readonly client: string;
  readonly depositId: number;
  readonly waiting: readonly number[];
  readonly givenUp: readonly number[];
};

/** Returns what this release shows for a frozen document: a rejected deposit also says what to do next. */
export function shownNow(document: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { deposit_status: status, deposit_status_detail: detail } = document;
  if (status !== 'rejected' || typeof detail !== 'string') return document;
  const [reasons = '', ...warnings] = detail.split(/(?=\nWarnings:)/);
  const next = '\nA rejected deposit cannot be changed: correct this and make a new deposit.';
  return { ...document, deposit_status_detail: [reasons, next, ...warnings].join('') };
}
