import { createHash } from 'node:crypto';
import { tarOf, zipOf } from '../archives/archive-builders.ts';

export const helloZip = zipOf([{ name: 'hello/hello.py', data: 'print("hello")\n' }]);
export const helloTar = tarOf([{ name: 'hello/hello.py', data: 'print("hello")\n' }]);

/** An entry that passes all checks of a client without a domain. */
export const helloEntry = entryXml('<title>Hello</title><author><name>Ada</name></author>');

export function entryXml(content: string): string {
  return `<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom" xmlns:codemeta="https://doi.org/10.5063/SCHEMA/CODEMETA-2.0" xmlns:d="https://www.softwareheritage.org/schema/2018/deposit">${content}</entry>`;
}

export function md5Of(bytes: string | Buffer, encoding: 'hex' | 'base64' = 'hex'): string {
  return createHash('md5').update(bytes).digest(encoding);
}

export const ATOM_TYPE = 'application/atom+xml;type=entry';
export const partial = { 'In-Progress': 'true' } as const;
export const final = { 'In-Progress': 'false' } as const;

export function archiveHeaders(filename = 'hello.zip', type = 'application/zip'): Record<string, string> {
  return { 'Content-Type': type, 'Content-Disposition': `attachment; filename=${filename}` };
}

export function entryHeaders(): Record<string, string> {
  return { 'Content-Type': ATOM_TYPE, 'Content-Disposition': 'attachment; name="atom"' };
}

export type FormPart = { readonly headers: Readonly<Record<string, string>>; readonly body: string | Buffer };

export function archivePart(
  body: Buffer = helloZip,
  filename = 'hello.zip',
  type = 'application/zip',
): FormPart {
  const disposition = `form-data; name="file"; filename="${filename}"`;
  return { headers: { 'Content-Disposition': disposition, 'Content-Type': type }, body };
}

export function entryPart(body: string | Buffer = helloEntry): FormPart {
  const disposition = 'form-data; name="atom"; filename="atom.xml"';
  return {
    headers: { 'Content-Disposition': disposition, 'Content-Type': 'application/atom+xml; charset="utf-8"' },
    body,
  };
}

export const BOUNDARY = 'limes--42';
export const formType = { 'Content-Type': `multipart/form-data; boundary="${BOUNDARY}"` } as const;

/** Returns the parts in their order, with the closing boundary unless `open`. */
export function formOf(parts: readonly FormPart[], { open = false } = {}): Buffer {
  const pieces = parts.flatMap(({ headers, body }) => [
    `--${BOUNDARY}\r\n`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`),
    '\r\n',
    body,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, open ? '' : `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece)));
}

/** A form with {@link helloZip} and {@link helloEntry}. */
export const helloForm = formOf([archivePart(), entryPart()]);
