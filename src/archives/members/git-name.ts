/** Bytes that a segment begins with that may be refused: a dot, `git~1`, or a character that HFS+ ignores. */
const SUSPECT = /(?:^|[/\\])(?:\.|\xe2\x80|\xe2\x81|\xef\xbb\xbf|git~1)/i;

/** Characters that HFS+ ignores in names, in UTF-8. */
const IGNORED = /\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf/g;

/**
 * Returns the first segment of a path (latin1 string of its raw bytes) that git refuses to check out, and the path down
 * to it. It is a name of git's own folder on some system, as `.git`, `.GIT` or `git~1`.
 */
export function refusedByGit(path: string): { readonly segment: string; readonly down: string } | undefined {
  // Most names are decided by this.
  if (!SUSPECT.test(path)) return undefined;
  let end = -1;
  for (const segment of path.split(/[/\\]/)) {
    end += 1 + segment.length;
    if (/^(?:\.git|git~1)[ .]*(?::|$)/i.test(segment.replace(IGNORED, '')))
      return { segment, down: path.slice(0, end) };
  }
  return undefined;
}
