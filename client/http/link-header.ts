/** Target of the first link with that relation in a `Link` header (RFC 8288). */
export function linkInHeader(header: string | undefined, rel: string): string | null {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^>]*)>([^,]*)/g)) {
    const [, quoted, plain] = /;\s*rel=(?:"([^"]*)"|([^\s;]+))/i.exec(parameters) ?? [];
    if ((quoted ?? plain ?? '').toLowerCase().split(/\s+/).includes(rel)) return target;
  }
  return null;
}
