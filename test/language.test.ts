import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';

const root = path.join(import.meta.dirname, '..');

const FOLDERS = [
  'src',
  'projections',
  'client',
  'scripts',
  'testing',
  'bench',
  'drills',
  'simulation',
  'test',
];
/** Names of options. */
const PUBLIC: Readonly<Record<string, string>> = { 'client/session.ts': 'patience' };

const FORBIDDEN = new Set(
  'whoever somebody nobody lest anew told tells patience trouble desk beside lack neighbour'.split(' '),
);
const PHRASES = ['so many', 'so long', 'is none', 'are none', 'any more', 'be it that'];
/** A docstring begins with a subject and a verb. */
const BEGINNING = /^(Of|As|The same|To be|What|Whose|Who|Whoever)\b/;

type Found = { readonly line: number; readonly what: string };

/** Finds forbidden words and phrases in the comments and names of a source text. */
function violationsIn(source: string): Found[] {
  const found: Found[] = [];
  const lineOf = (index: number): number => source.slice(0, index).split('\n').length;
  const comments = /\/\*[\s\S]*?\*\/|(?<![:'"`\w])\/\/[^\n]*/g;
  for (const { 0: comment, index } of withoutTexts(source).matchAll(comments)) {
    const text = comment.replaceAll(/\n\s*\*/g, '\n').replace(/^\/\*\*?|\*\/$/g, ' ');
    for (const { 0: word } of text.toLowerCase().matchAll(/[a-z]+/g))
      if (FORBIDDEN.has(word)) found.push({ line: lineOf(index), what: `“${word}” in a comment` });
    const plain = text.replaceAll(/\s+/g, ' ').trim();
    for (const phrase of PHRASES)
      if (new RegExp(`\\b${phrase}\\b`, 'i').test(plain))
        found.push({ line: lineOf(index), what: `“${phrase}” in a comment` });
    if (comment.startsWith('/**') && BEGINNING.test(plain))
      found.push({ line: lineOf(index), what: `a docstring that begins “${plain.slice(0, 30)}”` });
  }
  const code = withoutTexts(source).replaceAll(comments, (comment) => comment.replaceAll(/[^\n]/g, ' '));
  for (const { 0: name, index } of code.matchAll(/[A-Za-z_$][\w$]*/g))
    for (const word of name.split(/(?<![A-Z])(?=[A-Z])|_/))
      if (FORBIDDEN.has(word.toLowerCase())) found.push({ line: lineOf(index), what: `the name ${name}` });
  return found;
}

/** Replaces the contents of quoted texts, which are not the code's words, by blanks of the same length. */
function withoutTexts(source: string): string {
  const texts =
    /\/\*[\s\S]*?\*\/|(?<![:'"`\w])\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
  return source.replaceAll(texts, (text) =>
    text.startsWith('/') ? text : text.replaceAll(/[^\n]/g, (char, at) => (at === 0 ? char : ' ')),
  );
}

/** Titles of tests and of rules of servers, and messages of assertions, which are their last arguments. */
const TITLES = /\b(?:test(?:\.\w+)?|rule|refuses)\(\s*(?:'[\w ]+',\s*)?('(?:[^'\\\n]|\\.)*'|`[^`]*`)/g;
const MESSAGES = /\bt(?:\.\w+)+\([^;]*?,\s*('(?:[^'\\\n]|\\.)*'|`[^`]*`),?\s*\);/g;
/** Words that name no actor. */
const PERSONS = new Set('him his anybody everybody'.split(' '));
const TITLE_BEGINNING = /^(what|who|whoever|whose)\b/i;

/** Finds forbidden words, phrases and beginnings in the titles and messages of a test. */
function violationsInTexts(source: string): Found[] {
  const found: Found[] = [];
  for (const [pattern, kind] of [
    [TITLES, 'title'],
    [MESSAGES, 'message'],
  ] as const)
    for (const { 1: literal = '', index } of source.matchAll(pattern)) {
      const text = literal.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, 'X');
      if (text.split(' ').length < 3) continue; // a value
      const line = source.slice(0, index).split('\n').length;
      const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
      const wrong = [
        ...words.filter((word) => FORBIDDEN.has(word) || PERSONS.has(word)),
        ...PHRASES.filter((phrase) => new RegExp(`\\b${phrase}\\b`, 'i').test(text)),
        ...(kind === 'title' ? (TITLE_BEGINNING.exec(text)?.slice(1) ?? []) : []),
      ];
      found.push(...wrong.map((word) => ({ line, what: `“${word}” in the ${kind} “${text}”` })));
    }
  return found;
}

test('comments and names use the terms of the field', (t) => {
  const files = FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }));
  t.true(files.length > 1000);
  const violations = files.flatMap((file) =>
    violationsIn(readFileSync(path.join(root, file), 'utf8'))
      .filter(({ what }) => what !== `the name ${PUBLIC[file]}`)
      // Texts within templates of tests look like names.
      .filter(({ what }) => !(file.startsWith('test/') && what.startsWith('the name')))
      .map(({ line, what }) => `${file}:${line}: ${what}`),
  );
  t.deepEqual(violations, []);
});

test('forbidden words, phrases and beginnings are found, and strings are ignored', (t) => {
  const source =
    "/** Of all. */\nconst isTold = 'nobody'; // so many\nlet keepAlive = `whoever`;\nconst MAX_PATIENCE = 1;\n";
  t.deepEqual(
    violationsIn(source).map(({ what }) => what),
    [
      'a docstring that begins “Of all.”',
      '“so many” in a comment',
      'the name isTold',
      'the name MAX_PATIENCE',
    ],
  );
});

test('titles of tests and messages of assertions use the terms of the field', (t) => {
  const files = globSync('test/**/*.ts', { cwd: root }).filter(
    (file) => !import.meta.filename.endsWith(file),
  );
  const sources = files.map((file) => [file, readFileSync(path.join(root, file), 'utf8')] as const);
  t.true(sources.flatMap(([, source]) => [...source.matchAll(TITLES)]).length > 1500);
  t.true(sources.flatMap(([, source]) => [...source.matchAll(MESSAGES)]).length > 500);
  const violations = sources.flatMap(([file, source]) =>
    violationsInTexts(source).map(({ line, what }) => `${file}:${line}: ${what}`),
  );
  t.deepEqual(violations, []);
});

test('a forbidden word, phrase and beginning is found in titles and messages', (t) => {
  const titles = ['what a client is told', 'a file is none of them', 'who asks', 'an answer is sent'];
  const source = [
    ...titles.map((title) => `test('${title}', (t) => {`),
    "t.is(count, 1, 'the client gets his answer');",
    "t.is(name, 'nobody');",
  ].join('\n');
  t.deepEqual(
    violationsInTexts(source).map(({ line, what }) => `${line}: ${what.replace(/ in .*/, '')}`),
    ['1: “told”', '1: “what”', '2: “is none”', '5: “his”'],
  );
});

const MAX_WORDS = 25;

/** Lists the sentences of a document that have more words; code, tables and headings are none. A link is its text. */
function longSentences(document: string): string[] {
  const prose = document
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/^(?:\||#).*$/gm, '')
    .replaceAll(/^\s*(?:[-*]|\d+\.)\s/gm, '\n')
    .replaceAll(/`[^`]*`/g, 'X')
    .replaceAll(/\]\([^)]*\)/g, ']');
  const sentences = prose.split(/\n\s*\n/).flatMap((part) => part.split(/(?<=[.!?][”")*_\]]*)\s+|\s·\s|!\[/));
  return sentences
    .map((sentence) => sentence.replaceAll(/\s+/g, ' ').trim())
    .filter((sentence) => sentence.split(' ').filter((word) => /\w/.test(word)).length > MAX_WORDS);
}

test('sentences of documents have at most 25 words', (t) => {
  const files = ['*.md', 'docs/**/*.md', 'client/*.md'].flatMap((glob) => globSync(glob, { cwd: root }));
  t.true(files.length > 50);
  const found = files.flatMap((file) =>
    longSentences(readFileSync(path.join(root, file), 'utf8')).map((sentence) => `${file}: ${sentence}`),
  );
  t.deepEqual(found, []);
});

test('a long sentence is found in a paragraph and in an item of a list', (t) => {
  const long = `${'word '.repeat(MAX_WORDS)}word.`;
  const short = `${'word '.repeat(MAX_WORDS - 1)}word.`;
  t.deepEqual(longSentences(`${short} ${short}\n\n- ${short}\n- ${short}\n\n| ${long} |\n`), []);
  t.is(longSentences(`${short} ${long}\n\n- ${short} ${long}\n`).length, 2);
});
