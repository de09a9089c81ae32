import { isUtf8 } from 'node:buffer';

const UTF8_FLAG = 0x0800;

/**
 * Returns the name of an entry as a latin1 string of its UTF-8 bytes: unchanged if the entry is marked as UTF-8, else
 * decoded from code page 437. Returns `undefined` if it is marked but not UTF-8.
 */
export function zipName(rawName: string, flags: number): string | undefined {
  // ASCII is the same in both.
  if (!/[\x80-\xFF]/.test(rawName)) return rawName;
  if (flags & UTF8_FLAG) return isUtf8(Buffer.from(rawName, 'latin1')) ? rawName : undefined;
  return rawName.replace(/[\x80-\xFF]/g, (byte) => upperHalf[byte.charCodeAt(0) - 0x80]!);
}

const upperHalf = Array.from(
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0',
  (character) => Buffer.from(character).toString('latin1'),
);
