import { badRequest } from '../../sword/sword-error.ts';

/** One part of a multipart body, in wire order. A body that is not read is skipped. */
export type Part = {
  /** Header names in lower case; values as latin1 text, as in `node:http`. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: AsyncIterable<Buffer>;
};

/** Maximum bytes of one part's headers. */
const MAX_HEADER_BYTES = 16_384;
/** Maximum bytes of the preamble, and of the epilogue. */
const MAX_GAP_BYTES = 65_536;

/**
 * Reads a multipart body (RFC 2046) part by part, with at most one chunk in memory. Rejects malformed parts, and bodies
 * that end before their closing delimiter, since a lenient parser would lose bytes.
 */
export async function* readMultipart(
  source: AsyncIterable<Uint8Array>,
  boundary: string,
  maxParts: number,
): AsyncGenerator<Part> {
  const input = new Input(source, boundary);
  try {
    await input.skipToDelimiter();
    for (let count = 1; !(await input.atEnd()); count += 1) {
      if (count > maxParts) throw badRequest(`The multipart body has more than ${maxParts} parts.`);
      const headers = parseHeaders(await input.readHeaderBlock());
      const body = input.readToDelimiter();
      yield { headers, body };
      for await (const _rest of body); // drop what the consumer did not read
    }
    await input.skipToEnd();
  } finally {
    input.release();
  }
}

export function boundaryOf(parameters: ReadonlyMap<string, string>): string {
  const boundary = parameters.get('boundary') ?? '';
  if (/^[\x20-\x7e]{0,69}[\x21-\x7e]$/.test(boundary)) return boundary;
  throw badRequest(
    'The Content-Type of a multipart body must name its boundary, 1 to 70 printable characters.',
  );
}

/** Buffer of received bytes, searched for the delimiter. */
class Input {
  readonly #source: AsyncIterator<Uint8Array>;
  // Set by the first delimiter's line: a client library breaks lines with a line feed alone.
  #lineBreak: '\r\n' | '\n' | undefined;
  // Begins with the line feed only: another library sends no CR after an entry that ends with a line feed.
  readonly #delimiter: Buffer;
  // Lets the first delimiter be at the very beginning.
  #buffer: Buffer = Buffer.from('\n');

  constructor(source: AsyncIterable<Uint8Array>, boundary: string) {
    this.#source = source[Symbol.asyncIterator]();
    this.#delimiter = Buffer.from(`\n--${boundary}`, 'latin1');
  }

  async skipToDelimiter(): Promise<void> {
    let skipped = 0;
    for await (const chunk of this.readToDelimiter()) {
      skipped += chunk.length;
      if (skipped > MAX_GAP_BYTES)
        throw badRequest(
          `The multipart body does not begin with its boundary within ${MAX_GAP_BYTES} bytes.`,
        );
    }
  }

  /** Resolves to whether the delimiter just read was the closing one; otherwise skips the rest of its line. */
  async atEnd(): Promise<boolean> {
    while (this.#buffer.length < 2) await this.#more();
    if (this.#buffer.toString('latin1', 0, 2) === '--') return true;
    const refusal = 'The multipart body has bytes after a boundary on the same line.';
    const line = await this.#readUntil('\n', 1024, refusal);
    if (line.trim() !== '') throw badRequest(refusal);
    this.#breakLinesAs(line.endsWith('\r') ? '\r\n' : '\n');
    return false;
  }

  async readHeaderBlock(): Promise<string> {
    const lineBreak = this.#lineBreak ?? '\r\n';
    const { length } = lineBreak;
    while (this.#buffer.length < length) await this.#more();
    if (this.#buffer.toString('latin1', 0, length) === lineBreak) {
      this.#buffer = this.#buffer.subarray(length);
      return '';
    }
    const refusal = `The headers of a part of the multipart body exceed ${MAX_HEADER_BYTES} bytes.`;
    return this.#readUntil(lineBreak + lineBreak, MAX_HEADER_BYTES, refusal);
  }

  /** Yields the bytes before the next delimiter and consumes the delimiter. */
  async *readToDelimiter(): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#buffer.indexOf(this.#delimiter);
      // A delimiter may begin in the last bytes: they stay buffered until more bytes arrive.
      const safe = at >= 0 ? this.#endBefore(at) : this.#buffer.length - this.#delimiter.length;
      const chunk = this.#buffer.subarray(0, Math.max(safe, 0));
      this.#buffer = this.#buffer.subarray(at >= 0 ? at + this.#delimiter.length : chunk.length);
      if (chunk.length > 0) yield chunk;
      if (at >= 0) return;
      const next = await this.#next();
      if (this.#beginsInHeld(next)) this.#buffer = Buffer.concat([this.#buffer, next]);
      else {
        // The usual case: passes large chunks on without copying.
        if (this.#buffer.length > 0) yield this.#buffer;
        this.#buffer = next;
      }
    }
  }

  /** Returns whether a delimiter may begin in the buffered bytes; `next` alone is searched later. */
  #beginsInHeld(next: Buffer): boolean {
    if (next.length < this.#delimiter.length) return true;
    return Buffer.concat([this.#buffer, next.subarray(0, this.#delimiter.length)]).includes(this.#delimiter);
  }

  /** Returns the end of the part, without the line break, which belongs to the delimiter. */
  #endBefore(lineFeed: number): number {
    const isCrlf = this.#lineBreak !== '\n' && this.#buffer[lineFeed - 1] === 0x0d;
    return isCrlf ? lineFeed - 1 : lineFeed;
  }

  /** Reads the epilogue to verify that the request is complete. */
  async skipToEnd(): Promise<void> {
    let skipped = this.#buffer.length;
    for (let next = await this.#source.next(); !next.done; next = await this.#source.next()) {
      skipped += next.value.length;
      if (skipped > MAX_GAP_BYTES)
        throw badRequest(`The multipart body has more than ${MAX_GAP_BYTES} bytes after its end.`);
    }
  }

  /** Stops reading. Does not await the iterator: a pending read may never get bytes. */
  release(): void {
    void this.#source.return?.().catch(() => undefined);
  }

  #breakLinesAs(lineBreak: '\r\n' | '\n'): void {
    if (this.#lineBreak === lineBreak) return;
    // With both, the end of a part would be ambiguous.
    if (this.#lineBreak) throw badRequest('The multipart body ends its lines now with CRLF, now with LF.');
    this.#lineBreak = lineBreak;
  }

  async #readUntil(end: string, limit: number, refusal: string): Promise<string> {
    for (;;) {
      const at = this.#buffer.indexOf(end, 0, 'latin1');
      if (at > limit || (at < 0 && this.#buffer.length >= limit + end.length)) throw badRequest(refusal);
      if (at >= 0) {
        const text = this.#buffer.toString('latin1', 0, at);
        this.#buffer = this.#buffer.subarray(at + end.length);
        return text;
      }
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const next = await this.#next();
    this.#buffer = this.#buffer.length === 0 ? next : Buffer.concat([this.#buffer, next]);
  }

  async #next(): Promise<Buffer> {
    const next = await this.#source.next();
    if (next.done) throw badRequest('The multipart body ends before its closing boundary.');
    return Buffer.from(next.value.buffer, next.value.byteOffset, next.value.length);
  }
}

function parseHeaders(block: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of block.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    if (line === '') continue;
    const [, name, value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/.exec(line) ?? [];
    if (name === undefined) throw badRequest('A part of the multipart body has a malformed header.');
    if (headers.has(name.toLowerCase())) {
      throw badRequest(`A part of the multipart body has the header ${name} twice.`);
    }
    headers.set(name.toLowerCase(), value.trimEnd());
  }
  return headers;
}
