import test from 'ava';
import * as fc from 'fast-check';
import { boundaryOf, readMultipart } from '../../src/http/requests/multipart.ts';

type ReadPart = { headers: Record<string, string>; body: string };

const MAX_PARTS = 6;
const [MAX_HEADER_BYTES, MAX_GAP_BYTES] = [16_384, 65_536];

async function read(chunks: readonly Buffer[], boundary: string, maxParts = MAX_PARTS): Promise<ReadPart[]> {
  const parts: ReadPart[] = [];
  for await (const { headers, body } of readMultipart(asStream(chunks), boundary, maxParts)) {
    const bytes = Buffer.concat(await Array.fromAsync(body));
    parts.push({ headers: Object.fromEntries(headers), body: bytes.toString('latin1') });
  }
  return parts;
}

async function* asStream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    await Promise.resolve();
    yield chunk;
  }
}

function bodyOf(parts: readonly ReadPart[], boundary: string, { preamble = '', epilogue = '' } = {}): Buffer {
  const texts = parts.map(({ headers, body }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return `\r\n--${boundary}\r\n${lines.join('')}\r\n${body}`;
  });
  const text = `${preamble}${texts.join('')}\r\n--${boundary}--${epilogue}`;
  return Buffer.from(preamble === '' ? text.slice(2) : text, 'latin1');
}

function cut(body: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
  return places.slice(1).map((end, index) => body.subarray(places[index], end));
}

const boundary = 'b-b';
/** Bodies full of sequences that resemble a delimiter. */
const nearly = fc
  .array(
    fc.constantFrom(
      '\r',
      '\n',
      '\r\n',
      '-',
      '--',
      'b',
      'b-',
      '\r\n--',
      '\r\n--b',
      '\r\n--b-',
      '\r\n-',
      'x',
      '\0',
      '\xff',
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''))
  .filter((text) => !`\n${text}`.includes(`\n--${boundary}`));
const parts = fc.array(
  fc.record({
    headers: fc.constantFrom({ 'content-type': 'text/x' }, {}, { a: '1', b: 'two words' }),
    body: nearly,
  }),
  { minLength: 1, maxLength: 6 },
);

test('every body is parsed the same in chunks of any size', async (t) => {
  const cuts = fc.array(fc.nat(2_000), { maxLength: 30 });
  const gaps = fc.record({
    preamble: fc.constantFrom('', 'preamble', '\r\n', '--b'),
    epilogue: fc.constantFrom('', '\r\n', '\r\nepilogue'),
  });
  await t.notThrowsAsync(
    fc.assert(
      fc.asyncProperty(parts, cuts, gaps, async (wanted, places, around) => {
        const found = await read(cut(bodyOf(wanted, boundary, around), places), boundary);
        return JSON.stringify(found) === JSON.stringify(wanted);
      }),
      { numRuns: 1_500 },
    ),
  );
});

const example: ReadPart[] = [
  { headers: { 'content-disposition': 'form-data; name="file"' }, body: 'bytes\r\n--b-\r\n--b' },
  { headers: {}, body: '' },
  { headers: { a: 'b' }, body: '--b-b' },
];

test('a chunk may end at any byte', async (t) => {
  const body = bodyOf(example, boundary, { preamble: 'for old readers', epilogue: '\r\n' });
  for (let first = 0; first <= body.length; first += 1) {
    for (const second of [first, first + 1, first + 5, first + 7]) {
      t.deepEqual(await read(cut(body, [first, second]), boundary), example, `${first} ${second}`);
    }
  }
  t.deepEqual(
    await read(
      [...body].map((byte) => Buffer.of(byte)),
      boundary,
    ),
    example,
    'byte by byte',
  );
});

test('all lines may end with a bare line feed, and the last line of a part always may', async (t) => {
  const parts = [
    { headers: { a: 'b', c: 'd e' }, body: 'ends with a return\r' },
    { headers: {}, body: '\r\n--b\r\n' },
    { headers: { a: 'b' }, body: '' },
  ];
  const pieces = parts.map(({ headers, body }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
    return `--b-b\n${lines.join('')}\n${body}\n`;
  });
  const body = Buffer.from(`a: header\n\n${pieces.join('')}--b-b--`);
  const entryFirst = Buffer.from('--b-b\r\na: b\r\n\r\n<entry/>\n--b-b\r\n\r\nx\r\r\n--b-b--\r\n');
  for (let at = 0; at <= body.length; at += 1) {
    t.deepEqual(await read(cut(body, [at, at + 1]), boundary), parts, String(at));
    t.deepEqual(
      await read(cut(entryFirst, [at, at + 1]), boundary),
      [
        { headers: { a: 'b' }, body: '<entry/>' },
        { headers: {}, body: 'x\r' },
      ],
      String(at),
    );
  }
  for (const mixed of ['--b-b\n\nx\n--b-b\r\n\r\ny\n--b-b--', '--b-b\r\n\r\nx\r\n--b-b\n\ny\n--b-b--']) {
    await t.throwsAsync(read([Buffer.from(mixed)], boundary), { code: 'ErrorBadRequest' }, mixed);
  }
});

test('a truncated body is refused at every length', async (t) => {
  const body = bodyOf(example, boundary);
  for (let end = 0; end < body.length; end += 1) {
    await t.throwsAsync(read([body.subarray(0, end)], boundary), { code: 'ErrorBadRequest' }, String(end));
  }
});

test('the sizes of parts, headers, preamble and epilogue are limited', async (t) => {
  const part = { headers: {}, body: 'x' };
  const named = 'x-long: ';
  const long = (bytes: number): ReadPart => ({
    headers: { 'x-long': 'a'.repeat(bytes - named.length) },
    body: '',
  });
  const reading = (wanted: ReadPart[], around = {}) => {
    const body = bodyOf(wanted, boundary, around);
    return read(
      cut(
        body,
        Array.from({ length: body.length / 50 }, (_, index) => index * 50),
      ),
      boundary,
      2,
    );
  };
  t.is((await reading([part, part])).length, 2);
  await t.throwsAsync(reading([part, part, part]), { message: /more than 2 parts/ });
  t.is((await reading([long(MAX_HEADER_BYTES)])).length, 1);
  await t.throwsAsync(reading([long(MAX_HEADER_BYTES + 1)]), { message: /exceed 16384 bytes/ });
  const longLine = read([Buffer.from(`--${boundary}${'x'.repeat(2000)}`)], boundary);
  await t.throwsAsync(longLine, { message: /bytes after a boundary on the same line/ });
  const [fits, exceeds] = [MAX_GAP_BYTES - 60, MAX_GAP_BYTES + 1].map((bytes) => 'a'.repeat(bytes));
  t.is((await reading([part], { preamble: fits, epilogue: fits })).length, 1);
  await t.throwsAsync(reading([part], { preamble: exceeds }), { message: /within 65536 bytes/ });
  await t.throwsAsync(reading([part], { epilogue: exceeds }), { message: /more than 65536 bytes/ });
});

test('an endless header, preamble or epilogue is refused long before its end', async (t) => {
  for (const start of ['', '--b-b\r\nX: ', '--b-b--']) {
    let sent = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      yield Buffer.from(start);
      for (; sent < 64 * 1024 ** 2; sent += 4096) yield Buffer.alloc(4096, 'a');
    }
    await t.throwsAsync(
      Array.fromAsync(readMultipart(endless(), boundary, MAX_PARTS)),
      { code: 'ErrorBadRequest' },
      start,
    );
    t.true(sent <= 2 * MAX_GAP_BYTES, `${sent} bytes were read`);
  }
});

test('malformed and duplicate headers are refused; folded ones are parsed', async (t) => {
  const reading = (headers: string) =>
    read([Buffer.from(`--b-b\r\n${headers}\r\n\r\nx\r\n--b-b--`)], boundary);
  for (const headers of ['no colon', 'a b: c', ': c', 'A: 1\r\na: 2', 'é: 1']) {
    await t.throwsAsync(reading(headers), { code: 'ErrorBadRequest' }, headers);
  }
  t.deepEqual(await reading('Content-Type: text/x;\r\n  a=b  '), [
    { headers: { 'content-type': 'text/x; a=b' }, body: 'x' },
  ]);
});

test('an abandoned part is skipped, and the source is released with the body', async (t) => {
  const body = bodyOf(example, boundary);
  let released = 0;
  async function* source(): AsyncGenerator<Buffer> {
    try {
      for (const byte of body) yield Buffer.of(byte);
    } finally {
      released += 1;
    }
  }
  t.is((await Array.fromAsync(readMultipart(source(), boundary, MAX_PARTS))).length, 3);
  for await (const _part of readMultipart(source(), boundary, MAX_PARTS)) break;
  await new Promise((resolve) => setImmediate(resolve));
  t.is(released, 2);
});

test('large parts are streamed in their original chunks without buffering', async (t) => {
  const big = Buffer.alloc(65_536, 'x');
  let pulled = 0;
  async function* source(): AsyncGenerator<Buffer> {
    yield Buffer.from('--b-b\r\n\r\n');
    for (; pulled < 200; pulled += 1) yield big;
    yield Buffer.from('\r\n--b-b--');
  }
  let received = 0;
  for await (const { body } of readMultipart(source(), boundary, MAX_PARTS)) {
    for await (const chunk of body) {
      received += chunk.length;
      t.true(pulled * big.length - received <= 2 * big.length, 'no more than two chunks are buffered');
    }
  }
  t.is(received, 200 * big.length);
});

test('a boundary has 1 to 70 printable characters', (t) => {
  const of = (text?: string) => boundaryOf(new Map(text === undefined ? [] : [['boundary', text]]));
  t.is(of('a b'), 'a b');
  t.is(of('a'.repeat(70)), 'a'.repeat(70));
  for (const bad of [undefined, '', 'a'.repeat(71), 'a ', 'ä', 'a\tb']) {
    t.throws(() => of(bad), { code: 'ErrorBadRequest' }, bad);
  }
});
