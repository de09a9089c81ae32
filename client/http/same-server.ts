import { Fault } from '../faults.ts';

/**
 * Resolves an IRI of a document on the same server, the only one that gets the password. @throws {Fault} it is
 * elsewhere.
 */
export function onSameServer(iri: string, server: URL): URL {
  const url = URL.canParse(iri, server) ? new URL(iri, server) : undefined;
  if (!url) throw new Fault(`The server at ${server.origin} refers to an invalid address: ${iri}`);
  if (originOf(url) === originOf(server)) return url;
  throw new Fault(
    `The server at ${server.origin} refers to another server, ${url.href}, which does not get the password. If ${url.origin} is its right address, give that as --server; otherwise its operator must correct its base URL.`,
  );
}

export function isOnSameServer(iri: string, server: URL): boolean {
  return URL.canParse(iri) && originOf(new URL(iri)) === originOf(server);
}

/** Returns the origin; the loopback addresses count as `localhost`. */
function originOf({ protocol, hostname, port }: URL): string {
  const host = ['127.0.0.1', '[::1]'].includes(hostname) ? 'localhost' : hostname;
  return `${protocol}//${host}:${port}`;
}
