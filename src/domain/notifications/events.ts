/**
 * The delivery of one deposit's notifications: which were accepted, held or given up. A notification is named by the
 * revision of the deposit's event that it is about. Times are RFC 3339 in UTC.
 */
export type NotificationsEvent =
  | NotificationHeld
  | DeliveryTried
  | DeliveryFailed
  | NotificationsDelivered
  | NotificationsGivenUp
  | NotificationsRequeued;

/** It waits to be tried again, behind those that were held before. */
export type NotificationHeld = {
  type: 'NotificationHeld';
  data: {
    depositId: number;
    client: string;
    collection: string;
    /** Id and revision of the deposit's event that it is about. */
    eventId: string;
    revision: number;
    heldAt: string;
    reason: string;
    /** Nobody tries it before, unless others wait already; `null`: whenever somebody can. Older releases did not tell. */
    nextTryAt?: string | null;
  };
};

/** Somebody sets about delivering what is held: nobody else does before `nextTryAt`. */
export type DeliveryTried = {
  type: 'DeliveryTried';
  data: { depositId: number; attempt: number; nextTryAt: string };
};

export type DeliveryFailed = {
  type: 'DeliveryFailed';
  data: { depositId: number; attempt: number; reason: string; nextTryAt: string };
};

/**
 * The receiver has accepted these revisions. Older releases recorded only `upTo`, and only of held notifications:
 * everything that was held up to it. It is still written for them.
 */
export type NotificationsDelivered = {
  type: 'NotificationsDelivered';
  data: { depositId: number; upTo: number; revisions?: readonly number[] };
};

/** These revisions will not be sent unless an operator wants them to be. `upTo` as in {@link NotificationsDelivered}. */
export type NotificationsGivenUp = {
  type: 'NotificationsGivenUp';
  data: { depositId: number; upTo: number; revisions?: readonly number[]; reason: string };
};

/** An operator wants all that was given up or is held to be tried now. */
export type NotificationsRequeued = {
  type: 'NotificationsRequeued';
  data: { depositId: number; requeuedAt: string };
};
