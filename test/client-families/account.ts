/** The account and the service of a client. */
export type Account = {
  /** URL of the service, without a path. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
};

/** Returns the value of `Authorization`. */
export function basic({ user, password }: Account): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

export function hostOf({ url }: Account): string {
  return new URL(url).host;
}
