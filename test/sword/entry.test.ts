import test, { type ExecutionContext } from 'ava';
import { SwordError } from '../../src/sword/sword-error.ts';
import { readEntry, xmlLimits } from '../../testing/documents/read-entry.ts';

const ATOM = 'http://www.w3.org/2005/Atom';
const entry = (inside: string, attributes = '') => `<entry xmlns="${ATOM}"${attributes}>${inside}</entry>`;
const bytes = (text: string) => Buffer.from(text);

function refused(
  t: ExecutionContext,
  body: Uint8Array,
  expected: RegExp,
  options: { charset?: string } = {},
): void {
  const error = t.throws(() => readEntry(body, options), { instanceOf: SwordError }, String(expected));
  t.is(error.code, 'ErrorBadRequest');
  t.regex(error.summary, expected);
  t.true(error.summary.length < 250, error.summary);
}

test('an entry becomes a tree with its namespaces resolved', (t) => {
  const { root, encoding } = readEntry(
    bytes(
      `<?xml version="1.0"?>\n<a:entry xmlns:a="${ATOM}" xmlns="urn:x" a:lang="en" id="1"><a:title>One &amp; <b>two</b><![CDATA[ <3]]></a:title><c xmlns=""/></a:entry>`,
    ),
  );
  t.is(encoding, 'utf-8');
  t.is(`${root.ns} ${root.local}`, `${ATOM} entry`);
  t.deepEqual(
    [...root.attributes],
    [
      [`{${ATOM}}lang`, 'en'],
      ['id', '1'],
    ],
  );
  t.deepEqual(
    root.children.map(({ ns, local, text }) => [ns, local, text]),
    [
      [ATOM, 'title', 'One & two <3'],
      ['', 'c', ''],
    ],
  );
  t.is(root.children[0]?.children[0]?.ns, 'urn:x');
});

test('names with a meaning in JavaScript are ordinary names', (t) => {
  const attributes = ' __proto__="a" constructor="b" xmlns:__proto__="urn:p" __proto__:toString="c"';
  const { root } = readEntry(bytes(entry('<__proto__>x</__proto__><hasOwnProperty/>', attributes)));
  t.deepEqual(
    [...root.attributes],
    [
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['{urn:p}toString', 'c'],
    ],
  );
  t.deepEqual(
    root.children.map(({ local }) => local),
    ['__proto__', 'hasOwnProperty'],
  );
  t.is(({} as Record<string, unknown>)['a'], undefined);
});

test('an entry that is not well-formed is refused with the line and the reason', (t) => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /must contain a root element/],
    [' \n ', /root element/],
    ['no markup', /^Line 1 of the entry is not well-formed XML: text data outside/],
    ['{"title": 1}', /text data outside/],
    [
      entry('\n<title>R & D</title>\n\n'),
      /^Line 2 of the entry has an & that begins no reference: write it as &amp;/,
    ],
    [entry('\n<a b="x&y"/>\n<c>;</c>'), /^Line 2 of the entry has an &/],
    [
      entry('\n<!-- & --><![CDATA[ & ]]>&lt;&#9;&#x9;<?p & ?>\n<title>'),
      /^Line 3 of the entry is not well-formed/,
    ],
    [entry('\n<title>'), /^Line 2 of the entry is not well-formed XML: unexpected close tag/],
    [
      entry('\n<b><!-- a\n</b>\n'),
      /^Line 2 of the entry begins a comment that has no end: close it with -->\.$/,
    ],
    [
      entry('\n<b><![CDATA[ <!-- a --> \n</b>\n'),
      /^Line 2 of the entry begins a CDATA section that has no end/,
    ],
    [entry('\n<b>\n<?php a\n</b>'), /^Line 3 of the entry begins a processing instruction that has no end/],
    [entry('\n<b a="<!-- "/>'), /^Line 2 of the entry is not well-formed XML: disallowed character/],
    [`<entry xmlns="${ATOM}">`, /unclosed tag: entry/],
    [`${entry('')}\n\ntrailing`, /^Line 3 /],
    [`${entry('')}<entry/>`, /only one root/],
    [entry('<b>&undefined;</b>'), /undefined entity/],
    [entry('<b>&__proto__;</b>'), /undefined entity/],
    [entry('&#0;'), /malformed character entity/],
    [entry('&#xD800;'), /malformed character entity/],
    [entry('&#1;'), /malformed character entity/],
    [entry('\u0001'), /disallowed character/],
    [entry('\uffff'), /disallowed character/],
    [`<?xml version="1.1"?>${entry('&#1;')}`, /malformed character entity/],
    [entry('a ]]> b'), /not well-formed/],
    [entry('<!-- a -- b -->'), /malformed comment/],
    [entry('', ' a="1" a="2"'), /duplicate attribute/],
    [entry('', ' xmlns:p="urn:1" xmlns:q="urn:1" p:a="1" q:a="2"'), /duplicate attribute/],
    [entry('', ' a=1'), /unquoted attribute/],
    [entry('<p:b/>'), /unbound namespace prefix: "p"/],
    [entry('<b p:c="1"/>'), /unbound namespace prefix: "p"/],
    [entry('', ' xmlns:xml="urn:x"'), /xml prefix must be bound/],
    [entry('<a:b:c xmlns:a="urn:a"/>'), /malformed name/],
    [` <?xml version="1.0"?>${entry('')}`, /start of the document/],
    [`<?xml version="2.0"?>${entry('')}`, /version number/],
    ...['standalone="yes" encoding="UTF-8"', 'lang="en"', 'encoding="UTF-8" lang="en"'].map(
      (wrong): [string, RegExp] => [
        `<?xml version="1.0" ${wrong}?>${entry('')}`,
        /^Line 1 .* XML: the XML declaration has only version, encoding and standalone, in this order\.$/,
      ],
    ),
    [`<?xml encoding="UTF-8"?>${entry('')}`, /in this order\.$/],
    [`\ufeff\ufeff${entry('')}`, /not well-formed/],
    ['<entry/>', /not "entry" in no namespace/],
    [`<feed xmlns="${ATOM}">${entry('')}</feed>`, /not "feed" in the namespace/],
    [`<entry xmlns="http://purl.org/atom/ns#"/>`, /in the namespace "http:\/\/purl.org\/atom\/ns#"/],
    [`<${'x'.repeat(100_000)}/>`, /must be an entry/],
    [`<entry xmlns="${ATOM}"><${'x'.repeat(100_000)}>`, /unclosed/],
  ];
  for (const [body, expected] of cases) refused(t, bytes(body), expected);
});

test('any DOCTYPE is refused', (t) => {
  const doctypes = [
    '<!DOCTYPE entry>',
    '<!DOCTYPE entry SYSTEM "http://127.0.0.1:9/x.dtd">',
    '<!DOCTYPE entry [<!ENTITY e SYSTEM "file:///etc/hostname">]>',
    '<!DOCTYPE entry [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
    '<?xml version="1.0"?>\n<!DOCTYPE entry [<!-- ]> -->]>',
  ];
  for (const doctype of doctypes) refused(t, bytes(`${doctype}${entry('<title>&e;</title>')}`), /DOCTYPE/);
  refused(t, bytes(`<!DOCTYPE entry [${entry('')}`), /not well-formed/);
});

test('the limits hold exactly', (t) => {
  const nested = (depth: number) => entry('<a>'.repeat(depth - 1) + '</a>'.repeat(depth - 1));
  t.notThrows(() => readEntry(bytes(nested(50))));
  refused(t, bytes(nested(51)), /nested deeper than 50/);

  const many = (elements: number) => entry('<a/>'.repeat(elements - 1));
  t.is(readEntry(bytes(many(60_000))).root.children.length, 59_999);
  refused(t, bytes(many(60_001)), /more than 60000 elements/);

  const attributes = (count: number) =>
    entry(`<a ${Array.from({ length: count }, (_, i) => `a${i}=""`).join(' ')}/>`.repeat(2));
  t.is(readEntry(bytes(attributes(100))).root.children[1]?.attributes.size, 100);
  refused(t, bytes(attributes(101)), /more than 100 attributes/);

  const long = (length: number) => entry('', ` a="${'x'.repeat(length)}"`);
  t.is(readEntry(bytes(long(65_536))).root.attributes.get('a')?.length, 65_536);
  refused(t, bytes(long(65_537)), /longer than 65536/);

  t.throws(() => readEntry(bytes(nested(3)), { limits: { ...xmlLimits, depth: 2 } }), {
    message: /than 2/,
  });
});

// Quadratic behaviour would take longer than the test runner waits.
test('floods of markup are parsed or refused', (t) => {
  const floods = [
    entry('<!-- -->'.repeat(130_000)),
    entry('<!--'.repeat(260_000)),
    entry('<?p ?>'.repeat(170_000)),
    entry(`<title>${'&amp;'.repeat(200_000)}</title>`),
    entry(`<title>${']'.repeat(1_000_000)}</title>`),
    entry(`<title>${'<![CDATA[x]]>'.repeat(80_000)}</title>`),
    entry('<'.repeat(1_000_000)),
    `<!DOCTYPE entry [${'<!ENTITY e "e">'.repeat(65_000)}]>`,
  ];
  for (const flood of floods) {
    try {
      readEntry(bytes(flood));
    } catch (error) {
      t.true(error instanceof SwordError, `${flood.slice(0, 80)}: ${String(error)}`);
    }
  }
});

const coffee = (declaration: string) => `${declaration}${entry('<title>café €</title>')}`;
const utf16le = (text: string) => Buffer.from(text, 'utf16le');
const utf16be = (text: string) => utf16le(text).swap16();
const latin1 = (text: string) => Buffer.from(text.replace(' €', ''), 'latin1');

test('an entry is decoded by byte order mark, then charset, then declaration, then UTF-8', (t) => {
  const declares = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>`;
  const windows = (text: string) => Buffer.from(text.replace('é', '\xe9').replace('€', '\x80'), 'latin1');
  const cases: readonly (readonly [Buffer, string | undefined, string, string])[] = [
    [bytes(coffee('')), undefined, 'utf-8', 'café €'],
    [bytes(coffee(`\ufeff${declares('UTF-8')}`)), undefined, 'utf-8', 'café €'],
    [bytes(coffee(declares('utf8'))), 'UTF-8', 'utf-8', 'café €'],
    [utf16le(coffee(`\ufeff${declares('UTF-16')}`)), undefined, 'utf-16le', 'café €'],
    [utf16be(coffee(`\ufeff${declares('UTF-16')}`)), undefined, 'utf-16be', 'café €'],
    [utf16le(coffee(declares('UTF-16'))), undefined, 'utf-16le', 'café €'],
    [utf16be(coffee(declares('UTF-16'))), undefined, 'utf-16be', 'café €'],
    [utf16be(coffee('')), 'utf-16', 'utf-16be', 'café €'],
    [utf16le(coffee('')), 'utf-16le', 'utf-16le', 'café €'],
    [latin1(coffee(declares('ISO-8859-1'))), undefined, 'iso-8859-1', 'café'],
    [
      latin1(coffee(declares("Latin1' standalone='no").replaceAll('"', "'"))),
      undefined,
      'iso-8859-1',
      'café',
    ],
    [latin1(coffee('')), 'iso-8859-1', 'iso-8859-1', 'café'],
    [windows(coffee(declares('windows-1252'))), undefined, 'windows-1252', 'café €'],
    [bytes(coffee('').replace('café €', 'cafe')), 'US-ASCII', 'us-ascii', 'cafe'],
    // The byte order mark takes precedence over the charset, the charset over the declaration (RFC 7303).
    [bytes(coffee('\ufeff')), 'iso-8859-1', 'utf-8', 'café €'],
    [bytes(coffee(declares('ISO-8859-1'))), 'utf-8', 'utf-8', 'café €'],
    // Unless it is invalid: clients label everything as UTF-8.
    [latin1(coffee(declares('ISO-8859-1'))), 'UTF-8', 'iso-8859-1', 'café'],
  ];
  for (const [body, charset, encoding, title] of cases) {
    const document = readEntry(body, { charset });
    t.is(document.encoding, encoding);
    t.is(document.root.children[0]?.text, title, `${encoding} ${charset}`);
  }
});

test('ISO-8859-1 is not windows-1252: its bytes 80 to 9F are control characters, not signs', (t) => {
  const body = Buffer.from(
    coffee('<?xml version="1.0" encoding="ISO-8859-1"?>').replace('€', '\x80'),
    'latin1',
  );
  t.is(readEntry(body).root.children[0]?.text, 'café \u0080');
});

test('an invalid byte for the encoding is refused with its line, never replaced', (t) => {
  const wrong = (...codes: number[]) =>
    Buffer.concat([
      bytes(`<entry xmlns="${ATOM}">\n\n<title>é`),
      Buffer.from(codes),
      bytes('</title></entry>'),
    ]);
  const bad = [[0xff], [0xe9], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]];
  for (const codes of bad)
    refused(t, wrong(...codes), /^Line 3 of the entry has a byte that is wrong .* utf-8\.$/);
  refused(t, Buffer.concat([bytes(entry('')), Buffer.from([0xe2, 0x82])]), /^Line 1 /);
  refused(t, bytes(coffee('')), /wrong in its encoding, us-ascii/, { charset: 'us-ascii' });
  refused(t, Buffer.concat([utf16le(entry('')), Buffer.from([0])]), /utf-16le/);
  refused(t, utf16le(entry('\ud800')), /utf-16le/);
});

test('the line of an invalid byte is found at any place in every encoding', (t) => {
  const start = `<entry xmlns="${ATOM}">`;
  for (const charset of ['utf-8', 'gb18030', 'shift_jis', 'euc-jp']) {
    for (const lines of [0, 2000, 4095 - start.length, 4096 - start.length, 10_000]) {
      const body = Buffer.concat([
        bytes(start + '\n'.repeat(lines)),
        Buffer.from([0xff]),
        bytes('\n</entry>'),
      ]);
      refused(t, body, new RegExp(`^Line ${lines + 1} of .* ${charset}\\.$`), { charset });
    }
  }
});

test('an unknown encoding, or one other than declared, is refused', (t) => {
  refused(
    t,
    bytes(`<?xml version="1.0" encoding="UTF-7"?>${entry('')}`),
    /encoding "utf-7" .* not supported/,
  );
  refused(t, bytes(`<?xml version="1.0" encoding=""?>${entry('')}`), /not supported/);
  refused(t, bytes(entry('')), /"klingon" .* not supported/, { charset: 'klingon' });
  refused(
    t,
    bytes(`<?xml version="1.0" encoding="UTF-16"?>${entry('')}`),
    /declares the encoding "UTF-16" but/,
  );
  refused(t, Buffer.from([0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0]), /not well-formed/); // UTF-32
});

test('a long entry parsed in many steps has the same result', (t) => {
  const long = (end: string) => Buffer.from(entry(`<title>${'😀é\r\n&amp;x'.repeat(20_000)}</title>${end}`));
  const [title, a] = readEntry(long('<a b="c"/>')).root.children;
  t.is(title?.text, '😀é\n&x'.repeat(20_000));
  t.deepEqual([...(a?.attributes ?? [])], [['b', 'c']]);
  refused(t, long('<a>'), /Line 20001 of the entry is not well-formed/);
});
