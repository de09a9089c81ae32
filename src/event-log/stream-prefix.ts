/** Whether a stream has one of the prefixes; true without prefixes. */
export function hasPrefix(stream: string, prefixes: readonly string[] | undefined): boolean {
  return prefixes?.some((prefix) => stream.startsWith(prefix)) ?? true;
}
