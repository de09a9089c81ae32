import { Fault } from '../faults.ts';

/**
 * Resolves an IRI of a document on the same server, the only one that gets the password. @throws {Fault} it is
 * elsewhere.
 */
export function onSameServer(iri: string, server: URL): URL {
  const url = URL.canParse(iri, server) ? new URL(iri, server) : undefined;
  if (!url) throw new Fault(`The server at ${server.origin} names an address that is none: ${iri}`);
  if (originOf(url) === originOf(server)) return url;
  throw new Fault(
    `The server at ${server.origin} names an address elsewhere, ${url.href}, where the password is not sent. If ${url.origin} is its right address, give that as --server; else its operator has to put its base URL right.`,
  );
}

/** Returns the origin; the loopback addresses count as `localhost`. */
function originOf({ protocol, hostname, port }: URL): string {
  const host = ['127.0.0.1', '[::1]'].includes(hostname) ? 'localhost' : hostname;
  return `${protocol}//${host}:${port}`;
}
