/** Returns the pattern of a path: `:name` stands for one segment, `*name` for the rest. Used here and in the browser. */
export function pathPattern(path: string): RegExp {
  const source = path
    .replaceAll('.', '\\.')
    .replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')
    .replaceAll(/\*(\w+)/g, '(?<$1>.+)');
  return new RegExp(`^${source}$`);
}
