import { isSubdomainOf } from '../../domain/deposit/metadata/host-name.ts';
import type { Steps } from './cooperative.ts';
import { entryUrl } from './entry-url.ts';
import { descendants, type XmlElement } from './xml-tree.ts';

export type UrlHosts = {
  /** Distinct hosts in lower case, without port, from all elements whose local name contains `url`. */
  readonly urlHosts: readonly string[];
  /** Whether such elements exist, with any content. For readers of the log: no check needs it. */
  readonly hasUrlField: boolean;
  /** Whether hosts were dropped to stay within the limit. For readers of the log as well. */
  readonly urlHostsTruncated: boolean;
};

/**
 * Collects the hosts of the URLs in an entry, up to `maxBytes` of JSON. Hosts in the client's domain take precedence,
 * since the entry must have one of them.
 */
export function* urlHosts(root: XmlElement, maxBytes: number, domain: string | null): Steps<UrlHosts> {
  const [hosts, own] = [new Set<string>(), new Set<string>()];
  let hasUrlField = false;
  for (const field of descendants(root)) {
    yield;
    if (!isUrlField(field)) continue;
    hasUrlField = true;
    const host = hostOf(field.text.trim());
    if (host === undefined) continue;
    hosts.add(host);
    if (domain !== null && isSubdomainOf(host, domain)) own.add(host);
  }
  yield;
  const included = hostsWithinLimit([own, hosts], maxBytes);
  const kept = hosts.values().filter((host) => included.has(host));
  return { urlHosts: [...kept], hasUrlField, urlHostsTruncated: included.size < hosts.size };
}

/** Returns whether the element is a URL field without children: the text of others is not one value. */
function isUrlField({ children, local }: XmlElement): boolean {
  return children.length === 0 && /url/i.test(local);
}

/** Returns the first hosts that fit into `maxBytes` of JSON. */
function hostsWithinLimit(hosts: readonly ReadonlySet<string>[], maxBytes: number): ReadonlySet<string> {
  const included = new Set<string>();
  let bytes = 2;
  for (const host of hosts.values().flatMap((some) => some.values())) {
    if (included.has(host)) continue;
    bytes += host.length + 3;
    if (bytes > maxBytes) break;
    included.add(host);
  }
  return included;
}

/** Returns the host of a URL. URLs with credentials are ignored: people and programs read different hosts in them. */
function hostOf(text: string): string | undefined {
  const { protocol, hostname, username, password } = entryUrl(text) ?? {};
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  return username || password ? undefined : hostname;
}
