import { isWithin } from '../../domain/deposit/host-name.ts';
import { entryUrl } from './entry-url.ts';
import type { Steps } from './steps.ts';
import { descendants, type XmlElement } from './xml-tree.ts';

export type UrlHosts = {
  /** Distinct, lower case, without port; from all elements whose local name contains `url`. */
  readonly urlHosts: readonly string[];
  /** Whether there are such elements at all, whatever they hold. */
  readonly hasUrlField: boolean;
  /** There were more hosts than are kept. */
  readonly urlHostsTruncated: boolean;
};

/**
 * The hosts of the URLs in an entry, as many as take no more than `maxBytes` of JSON: where that is not all, first
 * those in the client's domain, one of which has to be there.
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
    if (domain !== null && isWithin(host, domain)) own.add(host);
  }
  yield;
  const fitting = fittingOf([own, hosts], maxBytes);
  const kept = hosts.values().filter((host) => fitting.has(host));
  return { urlHosts: [...kept], hasUrlField, urlHostsTruncated: fitting.size < hosts.size };
}

/** Only elements without children: the text of others is not one value. */
function isUrlField({ children, local }: XmlElement): boolean {
  return children.length === 0 && /url/i.test(local);
}

/** The first of them that take no more than `maxBytes` of JSON. */
function fittingOf(hosts: readonly ReadonlySet<string>[], maxBytes: number): ReadonlySet<string> {
  const fitting = new Set<string>();
  let bytes = 2;
  for (const host of hosts.values().flatMap((some) => some.values())) {
    if (fitting.has(host)) continue;
    bytes += host.length + 3;
    if (bytes > maxBytes) break;
    fitting.add(host);
  }
  return fitting;
}

/** With credentials people and programs read different hosts: not counted. */
function hostOf(text: string): string | undefined {
  const { protocol, hostname, username, password } = entryUrl(text) ?? {};
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  return username || password ? undefined : hostname;
}
