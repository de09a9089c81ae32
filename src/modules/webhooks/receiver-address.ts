import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { isPublicAddress } from './public-address.ts';

/** Thrown when a webhook's address is not allowed. */
export class ReceiverRefused extends Error {
  override readonly name = 'ReceiverRefused';
  readonly code = 'RECEIVER_REFUSED';
}

/** Whether webhooks may be in private networks and use plain http. */
export type ReceiverRules = { readonly allowPrivate: boolean };

/**
 * Checks the rules that need no resolver; every connection checks them again.
 * @throws {ReceiverRefused}
 */
export function assertMayBeReceiver({ protocol, hostname }: URL, { allowPrivate }: ReceiverRules): void {
  if (allowPrivate) return;
  if (protocol !== 'https:') {
    throw new ReceiverRefused('A webhook has to be https, unless DEPOSIT_WEBHOOK_ALLOW_PRIVATE is true.');
  }
  // Sockets connect to an IP address without a lookup.
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublicAddress(address)) throw notPublic(hostname, address);
}

/**
 * Checks a new webhook, including its DNS name.
 * @throws {ReceiverRefused}
 */
export async function assertReachable(url: URL, rules: ReceiverRules): Promise<void> {
  assertMayBeReceiver(url, rules);
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return;
  try {
    await promisify(checkedLookup(rules))(url.hostname, { all: true });
  } catch (error) {
    if (error instanceof ReceiverRefused) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new ReceiverRefused(`The host ${url.hostname} cannot be resolved (${code}).`, { cause: error });
  }
}

/**
 * Returns a lookup for sockets that refuses names with any address in a private network. The socket connects to the
 * checked addresses, so a later change of the DNS name (rebinding) has no effect.
 */
export function checkedLookup({ allowPrivate }: ReceiverRules): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const refused = allowPrivate ? undefined : addresses.find(({ address }) => !isPublicAddress(address));
      if (refused) return callback(notPublic(hostname, refused.address), []);
      const [first] = addresses;
      if (options.all || !first) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function notPublic(hostname: string, address: string): ReceiverRefused {
  const place = hostname === address ? hostname : `${hostname} (${address})`;
  return new ReceiverRefused(`${place} is in no public network, where no notifications are sent.`);
}
