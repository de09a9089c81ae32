/** Whom a client deposits for, and where. */
export type Account = {
  /** Of the service, without a path. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
};

/** Of `Authorization`. */
export function basic({ user, password }: Account): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

export function hostOf({ url }: Account): string {
  return new URL(url).host;
}
