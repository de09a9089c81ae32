import { isUtf8 } from 'node:buffer';
import { badRequest, quoted } from '../sword-error.ts';
import { lineAt } from './line-at.ts';

export type DecodedXml = {
  readonly text: string;
  /** Name of the encoding that was used, in lower case. */
  readonly encoding: string;
};

/**
 * Decodes an XML document by its byte order mark, the charset of its Content-Type, its XML declaration, or UTF-8, in
 * this order (RFC 7303). If the charset is UTF-8 but the bytes are not, the XML declaration decides. Rejects invalid
 * bytes and never replaces them.
 */
export function decodeXml(bytes: Uint8Array, charset: string | undefined): DecodedXml {
  const mark = byteOrderMark(bytes) ?? utf16(charset, bytes);
  const label = mark ?? charset ?? declaredEncoding(bytes) ?? 'utf-8';
  const decoder = decoderFor(mark === undefined ? fixEncodingLabel(label, bytes) : label);
  return { text: decoder.decode(bytes), encoding: decoder.encoding };
}

/** Corrects a wrong UTF-8 label: clients send it in the Content-Type for files in any encoding. */
function fixEncodingLabel(label: string, bytes: Uint8Array): string {
  if (!/^utf-?8$/i.test(label) || isUtf8(bytes)) return label;
  return declaredEncoding(bytes) ?? label;
}

const MARKS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16be', [0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
];

function byteOrderMark(bytes: Uint8Array): string | undefined {
  return MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0];
}

/** Detects UTF-16 by the zero next to the first `<`; the charset `utf-16` leaves the byte order open. */
function utf16(charset: string | undefined, bytes: Uint8Array): string | undefined {
  if (charset !== undefined && charset.toLowerCase() !== 'utf-16') return undefined;
  if (bytes[0] === 0 && bytes[1] === 0x3c) return 'utf-16be';
  if (bytes[0] === 0x3c && bytes[1] === 0) return 'utf-16le';
  return undefined;
}

/** Returns the encoding in the XML declaration, which is readable as Latin-1 in every encoding except UTF-16. */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 256)).toString('latin1');
  const label = /^<\?xml\s[^>]*?\sencoding\s*=\s*(["'])([^"'>]*)\1/.exec(head)?.[2];
  if (label !== undefined && /^utf-?16/i.test(label)) {
    throw badRequest(`The entry declares the encoding ${quoted(label)} but is not written in it.`);
  }
  return label;
}

type XmlDecoder = { readonly encoding: string; decode(bytes: Uint8Array): string };

/** Labels that `TextDecoder` maps to windows-1252, a different encoding. */
const LATIN1 = /^(?:iso[-_]?8859-?1(?::1987)?|latin1|l1|ibm819|cp819|csisolatin1)$/;
const ASCII = /^(?:us-ascii|ascii|ansi_x3\.4-1968|iso-ir-6)$/;

function decoderFor(name: string): XmlDecoder {
  const label = name.toLowerCase();
  if (LATIN1.test(label)) return { encoding: 'iso-8859-1', decode: latin1 };
  if (ASCII.test(label)) return { encoding: 'us-ascii', decode: ascii };
  try {
    const { encoding } = new TextDecoder(label);
    return { encoding, decode: (bytes) => decodeStrictly(encoding, bytes) };
  } catch (cause) {
    throw badRequest(`The encoding ${quoted(label)} of the entry is not supported: write it in UTF-8.`, {
      cause,
    });
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function ascii(bytes: Uint8Array): string {
  const wrong = bytes.findIndex((byte) => byte > 0x7f);
  if (wrong >= 0) throw wrongByteError('us-ascii', latin1(bytes.subarray(0, wrong)));
  return latin1(bytes);
}

function decodeStrictly(encoding: string, bytes: Uint8Array): string {
  try {
    return strictDecoder(encoding).decode(bytes);
  } catch {
    throw wrongByteError(encoding, longestValidStart(encoding, bytes));
  }
}

/** Returns a decoder that preserves the byte order mark: the parser skips the first and rejects a second. */
function strictDecoder(encoding: string): TextDecoder {
  return new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
}

/** Returns the text before the first invalid byte, which is searched for: `TextDecoder` does not report it. */
function longestValidStart(encoding: string, bytes: Uint8Array): string {
  const { length } = validStart(encoding, bytes, 0, CHUNK_BYTES);
  return validStart(encoding, bytes, length, 1).text;
}

const CHUNK_BYTES = 4096;

/** Decodes the first `known` bytes at once and then `step` bytes at a time; returns the valid beginning. */
function validStart(encoding: string, bytes: Uint8Array, known: number, step: number) {
  const decoder = strictDecoder(encoding);
  let text = decoder.decode(bytes.subarray(0, known), { stream: true });
  for (let length = known; ; length += step) {
    if (length >= bytes.length) return { length, text };
    try {
      text += decoder.decode(bytes.subarray(length, length + step), { stream: true });
    } catch {
      return { length, text };
    }
  }
}

function wrongByteError(encoding: string, before: string) {
  const line = lineAt(before, before.length);
  return badRequest(`Line ${line} of the entry has a byte that is wrong in its encoding, ${encoding}.`);
}
