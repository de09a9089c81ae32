import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { isPublicAddress } from './public-address.ts';

/** Notifications are not sent there. */
export class ReceiverRefused extends Error {
  override readonly name = 'ReceiverRefused';
  readonly code = 'RECEIVER_REFUSED';
}

/** Whether webhooks may lie in private networks, and be plain http. */
export type ReceiverRules = { readonly allowPrivate: boolean };

/**
 * The rules that need no resolver; they are checked again before every connection.
 * @throws {ReceiverRefused}
 */
export function assertMayBeReceiver({ protocol, hostname }: URL, { allowPrivate }: ReceiverRules): void {
  if (allowPrivate) return;
  if (protocol !== 'https:') {
    throw new ReceiverRefused('A webhook has to be https, unless DEPOSIT_WEBHOOK_ALLOW_PRIVATE is true.');
  }
  // An address is connected to without asking a resolver.
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublicAddress(address)) throw notPublic(hostname, address);
}

/**
 * For a webhook that is being set: also asks the resolver.
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
 * A lookup for sockets that refuses names with any address in a private network. The socket connects to the very
 * addresses that were checked, so a name that resolves to something else a moment later gains nothing.
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
