import type { Pauses } from '../growing-pause.ts';

/** What operators choose, and the pauses between tries. Times in milliseconds. */
export type NotificationSettings = Pauses & {
  /** Holds the key that the secrets of webhooks are sealed with. */
  readonly keyFile: string;
  /** Receivers may be plain http and lie in private networks. */
  readonly allowPrivate: boolean;
  /** How long a notification is tried. */
  readonly giveUpAfter: number;
};
