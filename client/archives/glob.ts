/**
 * Returns whether a path matches the pattern as a whole: `*` and `?` within a name, `**` for any folders, `[a-z]`, `[!a]`,
 * `{a,b}`, and `\` before a character that is meant itself. Wildcards match a leading dot, too. Node's own function, of
 * later releases, does not.
 * @throws {SyntaxError} a range in brackets ends before it begins.
 */
export function globTest(pattern: string): (path: string) => boolean {
  const expressions = alternatives(pattern).map((one) => new RegExp(`^${sourceOf(one)}$`, 'su'));
  return (path) => expressions.some((expression) => expression.test(path));
}

/** Expands the first braces that have a comma, and then the others. */
function alternatives(pattern: string): string[] {
  for (let start = 0; start < pattern.length; start += 1) {
    if (pattern[start] === '\\') start += 1;
    else if (pattern[start] === '{') {
      const parts = partsOf(pattern, start);
      if (!parts) continue;
      const [before, after] = [pattern.slice(0, start), pattern.slice(parts.end + 1)];
      return parts.options.flatMap((option) => alternatives(`${before}${option}${after}`));
    }
  }
  return [pattern];
}

/** Returns what the braces that open at `start` hold; `undefined` if they do not close, or hold no comma. */
function partsOf(pattern: string, start: number): { options: string[]; end: number } | undefined {
  const options: string[] = [];
  let [depth, from] = [0, start + 1];
  for (let at = start; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '{') depth += 1;
    else if (character === ',' && depth === 1) {
      options.push(pattern.slice(from, at));
      from = at + 1;
    } else if (character === '}') depth -= 1;
    if (depth === 0)
      return options.length === 0 ? undefined : { options: [...options, pattern.slice(from, at)], end: at };
  }
  return undefined;
}

/** A class, any folders, a wildcard, a character that is meant itself, or any other. */
const TOKEN =
  /\[(?<not>[!^]?)(?<set>\]?[^\]]*)\]|(?<=^|\/)(?<folders>\*\*)(?<slash>\/|$)|(?<any>\*+)|(?<one>\?)|\\(?<itself>.)|(?<other>.)/gsu;

function sourceOf(pattern: string): string {
  return pattern.replace(TOKEN, (...match) => {
    const found = match.at(-1) as Readonly<Record<string, string | undefined>>; // the named groups
    const { set, not, folders, slash, any, one, itself, other } = found;
    if (set !== undefined) return `(?!/)[${not ? '^' : ''}${set.replace(/[\\[\]^]/g, '\\$&')}]`;
    if (folders !== undefined) return slash === '' ? '.*' : '(?:[^/]+/)*';
    if (any !== undefined) return '[^/]*';
    if (one !== undefined) return '[^/]';
    return (itself ?? other ?? '').replace(/[\^$\\.*+?()[\]{}|/]/g, '\\$&');
  });
}
