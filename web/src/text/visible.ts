// Characters that people cannot see also decide what runs. So the page shows
// the code of each character that is invisible, reverses the direction of a
// text, or looks like another letter.

export interface Part {
  text: string;
  /** Why the text is marked: it is hidden, or looks like another letter. */
  mark?: 'hidden' | 'lookalike';
}

// Matches controls, formats, line separators, private and unassigned
// characters, blanks with a width of their own, fillers, selectors and tags.
const hidden =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u00a0\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\ufe00-\ufe0f\uffa0\ufffc\u{1d159}\u{16fe4}\u{13441}\u{13442}\u{e0000}-\u{e0fff}]/u;

const lookalikes = new Set([
  ...'аАВсСԁеЕЁёһНіІјЈКкӏМмоОрРԛԚѕЅТтуУүԜԝхХѵѴЗӡбҮ',
  ...'αΑΒβϲϹΕΖηΗιΙΚκϳΜνΝοΟρΡσΤτυΥχΧγωϜ',
  ...'աԁցհոՕսՍԼղզքᎪᏴᏟᎠᎬᎻᎥᎫᏞᎷᏢᎡᏚᎢᏙᎳᎩᏃꓐꓑꓒꓓꓔꓖꓗꓙꓚꓛꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴⲟⲣⲥⲭⲁⲞⲢⲤⲬ',
  ...'ıȷɑɡɩʀꜱᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢſƖǀǃƽ',
]);
const signs = new Set('\u037e‐‑‒–—−―⁄∕⧸╱ꓸ․‥…‚；∶ː꞉։׃˸‘’ʹʼ“”ˈ‹›˂˃∗⁎‖∣⼁ǀ⋅');

const plain = /^[\t\n\r\x20-\x7e]*$/;
const isLatin = (char: string) => /[a-zA-Z]/.test(char);
const looksLatin = (char: string) => lookalikes.has(char) || /[\uff10-\uff5a\u{1d400}-\u{1d7ff}\u2160-\u217f]/u.test(char);

/** Blanks within a line, and empty lines, that move what follows out of sight. */
const gaps = /(?<=\S) {17,}|\n(?:[ \t]*\n){9,}/g;

/**
 * Splits a text into parts that are what they look like, and parts that are not. If it is strict, a gap that moves a part of the
 * text out of sight is marked as well.
 */
export function markedParts(text: string, strict = false): Part[] {
  if (!strict) return markedChars(text, false);
  const parts: Part[] = [];
  let from = 0;
  for (const { 0: gap, index } of text.matchAll(gaps)) {
    parts.push(...markedChars(text.slice(from, index), true), { text: gap, mark: 'hidden' });
    from = index + gap.length;
  }
  return [...parts, ...markedChars(text.slice(from), true)];
}

function markedChars(text: string, strict: boolean): Part[] {
  if (plain.test(text)) return text === '' ? [] : [{ text }];
  const marks = new Map<number, Part['mark']>();
  const chars = [...text];
  let word: number[] = [];
  let latin = false;
  let other = false;
  const end = () => {
    if (latin || (strict && !other)) for (const at of word) marks.set(at, 'lookalike');
    word = [];
    latin = other = false;
  };
  chars.forEach((char, at) => {
    if (isHidden(char)) marks.set(at, 'hidden');
    else if (isLatin(char)) latin = true;
    else if (looksLatin(char)) word.push(at);
    else if (/\p{L}/u.test(char)) other = other || !/\p{Script=Latin}/u.test(char);
    else if (!/[\p{N}\p{M}_]/u.test(char)) {
      end();
      if (strict && (signs.has(char) || /[\uff01-\uff5e]/.test(char))) marks.set(at, 'lookalike');
    }
  });
  end();
  return join(chars, marks);
}

function join(chars: string[], marks: Map<number, Part['mark']>): Part[] {
  const out: Part[] = [];
  chars.forEach((char, at) => {
    const mark = marks.get(at);
    const last = out.at(-1);
    if (!mark && last && !last.mark) last.text += char;
    else out.push(mark ? { text: char, mark } : { text: char });
  });
  return out;
}

export function isHidden(char: string): boolean {
  return char !== '\n' && char !== '\t' && char !== ' ' && hidden.test(char);
}

/** Returns the codes of a part: U+202E, or 80 × U+0020. */
export function codesOf(text: string): string {
  const n = [...text].length;
  return n > 1 ? `${n} × ${codeOf(text)}` : codeOf(text);
}

/**
 * Returns the code of a character, such as U+202E, to show it for a character that people cannot see or may confuse.
 */
export const codeOf = (char: string) => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Returns how many characters of a text are not what they look like. */
export const countSuspicious = (text: string, strict = false) => markedParts(text, strict).filter((part) => part.mark).length;

/** Returns JSON with its invisible characters as escapes. Its meaning stays the same. */
export function escapeHidden(json: string): string {
  return Array.from(json, (char) => (char === '\n' || !isHidden(char) ? char : Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''))).join('');
}
