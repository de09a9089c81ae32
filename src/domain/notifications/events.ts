import type { EventsOf } from '../decider.ts';

/**
 * Delivery of one deposit's notifications: which were accepted, held or given up. A notification is named by the
 * revision of the deposit's event that it reports. Times are RFC 3339 in UTC.
 */
export type NotificationsEvent = EventsOf<{
  NotificationHeld: HeldData;
  /** A node starts to deliver the held notifications; no other node does so before `nextTryAt`. */
  DeliveryTried: { depositId: number; attempt: number; nextTryAt: string };
  DeliveryFailed: { depositId: number; attempt: number; reason: string; nextTryAt: string };
  /**
   * The receiver has accepted these revisions.
   * Older releases recorded only `upTo`, and only for held notifications: everything that was held up to that revision.
   * `upTo` is still written for them.
   */
  NotificationsDelivered: { depositId: number; upTo: number; revisions?: readonly number[] };
  /** These revisions will not be sent unless an operator requests it. `upTo` as for delivered ones. */
  NotificationsGivenUp: { depositId: number; upTo: number; revisions?: readonly number[]; reason: string };
  /** An operator requests all notifications that were given up or are held to be sent now. */
  NotificationsRequeued: { depositId: number; requeuedAt: string };
}>;

/** A notification waits for another attempt, after those that were held before it. */
export type HeldData = {
  depositId: number;
  client: string;
  collection: string;
  /** Id and revision of the deposit's event that the notification reports. */
  eventId: string;
  revision: number;
  heldAt: string;
  reason: string;
  /** Earliest time of the next attempt, if no others wait; `null`: at once. Older releases omit it. */
  nextTryAt?: string | null;
};
