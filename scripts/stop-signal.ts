/** Aborts, with the text as its reason, when a person or the system asks the command to end. */
export function stopSignal(text: string): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => stop.abort(Object.assign(new Error(text), { code: 'STOPPED' })));
  }
  return stop.signal;
}
