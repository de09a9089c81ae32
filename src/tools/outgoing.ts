import http from 'node:http';
import https from 'node:https';
import { type OutgoingRequests, ownOr } from './outside-world.ts';

const REQUESTS_OF_NODE: OutgoingRequests = {
  agent: (tls, options) => new (tls ? https : http).Agent(options),
  request: (options) => (options.protocol === 'https:' ? https : http).request(options),
  fetch: (input, init) => fetch(input, init),
};

const own = (): OutgoingRequests => ownOr('outgoing', REQUESTS_OF_NODE);

/** Outgoing requests of the calling node. */
export const outgoing: OutgoingRequests = {
  agent: (tls, options) => own().agent(tls, options),
  request: (options) => own().request(options),
  fetch: (input, init) => own().fetch(input, init),
};
