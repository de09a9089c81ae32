const LONGEST = 200;

/**
 * Returns a name from an archive (latin1 string of its raw bytes) as text for messages, logs and XML: decoded from
 * UTF-8, with control characters and bytes that are not UTF-8 as `\xNN`, truncated to 200 characters.
 */
export function sanitizeName(name: string): string {
  let text = '';
  for (const [bytes] of name.slice(0, LONGEST * 4).matchAll(utf8Sequences)) {
    text += printable(bytes);
    if (text.length > LONGEST) return `${text.slice(0, LONGEST).replace(/[\uD800-\uDBFF]$/, '')}…`;
  }
  return name.length > LONGEST * 4 ? `${text}…` : text;
}

// One character that is well-formed UTF-8, or else one byte.
const utf8Sequences =
  /[\xC2-\xDF][\x80-\xBF]|\xE0[\xA0-\xBF][\x80-\xBF]|[\xE1-\xEC\xEE\xEF][\x80-\xBF]{2}|\xED[\x80-\x9F][\x80-\xBF]|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}|\xF4[\x80-\x8F][\x80-\xBF]{2}|[^]/g;

function printable(bytes: string): string {
  const character = bytes.length === 1 ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
  const isText = bytes.length === 1 ? bytes >= ' ' && bytes <= '~' : !/[\p{C}\p{Z}]/u.test(character);
  return isText ? character : bytes.replace(/[^]/g, escapeByte);
}

function escapeByte(byte: string): string {
  return `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
