/** Whether a host is this domain or a subdomain of it. */
export function isSubdomainOf(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}
