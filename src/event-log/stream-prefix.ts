/** Whether a stream is wanted: without prefixes all are. */
export function hasPrefix(stream: string, prefixes: readonly string[] | undefined): boolean {
  return prefixes?.some((prefix) => stream.startsWith(prefix)) ?? true;
}
