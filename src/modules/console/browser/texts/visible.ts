/** A part of a text: shown as it is, or as the code point of a character that would not be seen. */
export type TextPart = { readonly text: string; readonly isHidden: boolean };

/** Characters that are invisible, or change the direction of the text around them. Line feeds and tabs stay. */
const HIDDEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/v;
/** Also matches each emoji, whose characters are seen as a whole. Slow: only for texts in which `HIDDEN` is found. */
const HIDDEN_OR_EMOJI = new RegExp(`\\p{RGI_Emoji}|(?<hidden>${HIDDEN.source})`, 'gv');

/** Splits a text so that every hidden character is a part of its own, with its code point as text. */
export function visibleParts(text: string): TextPart[] {
  if (text !== '' && !HIDDEN.test(text)) return [{ text, isHidden: false }];
  const parts: TextPart[] = [];
  let end = 0;
  for (const { groups, index } of text.matchAll(HIDDEN_OR_EMOJI)) {
    const character = groups?.['hidden'];
    if (character === undefined) continue;
    if (index > end) parts.push({ text: text.slice(end, index), isHidden: false });
    parts.push({ text: codePoint(character), isHidden: true });
    end = index + character.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isHidden: false });
  return parts;
}

/** Returns the text with the code points of hidden characters in brackets. */
export function visibleText(text: string): string {
  return visibleParts(text)
    .map((part) => (part.isHidden ? `[${part.text}]` : part.text))
    .join('');
}

export function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
