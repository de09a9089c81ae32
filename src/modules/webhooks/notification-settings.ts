import type { BackoffOptions } from '../../tools/concurrency/backoff.ts';

/** Settings of notifications, including the back-off between retries. Times in milliseconds. */
export type NotificationSettings = BackoffOptions & {
  /** File with the key that seals the secrets of webhooks. */
  readonly keyFile: string;
  /** Whether receivers may use plain http and be in private networks. */
  readonly allowPrivate: boolean;
  /** Milliseconds after which a notification is given up. */
  readonly giveUpAfter: number;
};
