/** Returns an error as the client library reports it. */
export function clientFault(type: string, facts: object = {}): Error {
  return Object.assign(new Error(type), { type, ...facts });
}

/** Returns the error of a broken connection. */
export function unavailable(): Error {
  return clientFault('unavailable', { code: 14 });
}
