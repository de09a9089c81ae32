/** What operators choose. Times in milliseconds. */
export type NotificationSettings = {
  /** Holds the key that the secrets of webhooks are sealed with. */
  readonly keyFile: string;
  /** Receivers may be plain http and lie in private networks. */
  readonly allowPrivate: boolean;
  /** How long a notification is tried. */
  readonly giveUpAfter: number;
  /** Between the first two tries, and at the most between any two. */
  readonly firstPause: number;
  readonly longestPause: number;
};
