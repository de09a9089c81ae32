import { isWithin } from '../domain/deposit/host-name.ts';
import { entryUrl } from './entry-url.ts';
import type { XmlElement } from './xml-tree.ts';

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
export function urlHosts(root: XmlElement, maxBytes: number, domain: string | null): UrlHosts {
  const fields = urlFields(root);
  const hosts = new Set(fields.map(({ text }) => hostOf(text.trim())).filter((host) => host !== undefined));
  const own = domain === null ? [] : [...hosts].filter((host) => isWithin(host, domain));
  let bytes = 2;
  const fitting = new Set(
    [...new Set([...own, ...hosts])].filter((host) => (bytes += host.length + 3) <= maxBytes),
  );
  const kept = [...hosts].filter((host) => fitting.has(host));
  return { urlHosts: kept, hasUrlField: fields.length > 0, urlHostsTruncated: kept.length < hosts.size };
}

/** Only elements without children: the text of others is not one value. */
function urlFields(element: XmlElement): XmlElement[] {
  if (element.children.length > 0) return element.children.flatMap(urlFields);
  return /url/i.test(element.local) ? [element] : [];
}

/** With credentials people and programs read different hosts: not counted. */
function hostOf(text: string): string | undefined {
  const { protocol, hostname, username, password } = entryUrl(text) ?? {};
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  return username || password ? undefined : hostname;
}
