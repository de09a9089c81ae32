import http from 'node:http';
import https from 'node:https';
import { type OutgoingRequests, partOfWorld } from './outside-world.ts';

/** Outgoing requests of the calling node. */
export const outgoing: OutgoingRequests = partOfWorld('outgoing', {
  agent: (tls, options) => new (tls ? https : http).Agent(options),
  request: (options) => (options.protocol === 'https:' ? https : http).request(options),
  fetch: (input, init) => fetch(input, init),
});
