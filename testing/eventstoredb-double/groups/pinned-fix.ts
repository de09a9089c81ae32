/** Returns whether a server of this version counts events that wait for a PINNED consumer that is full. */
export function countsSkipped(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (major === 24) return minor > 10 || (minor === 10 && patch >= 14);
  if (major === 26) return minor > 0 || patch >= 3;
  return major > 26;
}
