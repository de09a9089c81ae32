/** Returns a signal that aborts with the text as its reason when the process gets SIGINT or SIGTERM. */
export function stopSignal(text: string): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => stop.abort(Object.assign(new Error(text), { code: 'STOPPED' })));
  }
  return stop.signal;
}
