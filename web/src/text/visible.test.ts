import { describe, expect, it } from 'vitest';
import { codeOf, codesOf, escapeHidden, markedParts, countSuspicious } from './visible';

const marked = (text: string, strict = false) => markedParts(text, strict).filter((part) => part.mark).map((part) => `${part.mark ?? ''} ${codeOf(part.text)}`);

describe('what cannot be seen', () => {
  it.each([
    ['rm -rf \u202e/tmp', ['hidden U+202E']],
    ['a\u200bb\ufeff', ['hidden U+200B', 'hidden U+FEFF']],
    ['tag\u{e0041}', ['hidden U+E0041']],
    ['no\u00a0break', ['hidden U+00A0']],
    ['bell\u0007', ['hidden U+0007']],
    ['pаypal.com', ['lookalike U+0430']],
  ])('%j is marked', (text, want) => expect(marked(text)).toEqual(want));

  it.each(['plain text\n\twith lines', 'Grüße aus Köln', 'Привет, мир', '日本語', 'naïve café'])('%j is left alone', (text) => expect(marked(text)).toEqual([]));

  it('is strict where something runs', () => {
    expect(marked('rm –rf', true)).toEqual(['lookalike U+2013']);
    expect(marked('оре', true)).toHaveLength(3);
    expect(countSuspicious('rm -rf /', true)).toBe(0);
  });

  it('is strict about gaps that move a part out of sight', () => {
    const gap = (text: string) => markedParts(text, true).filter((part) => part.mark).map((part) => codesOf(part.text));
    expect(gap(`ls${' '.repeat(600)}; rm -rf /`)).toEqual(['600 × U+0020']);
    expect(gap(`ls${'\n'.repeat(80)}rm -rf /`)).toEqual(['80 × U+000A']);
    expect(gap(`if x:\n${' '.repeat(40)}deep()\n\n\n\nclass A`)).toEqual([]);
    expect(markedParts(`ls${' '.repeat(600)}`)).toHaveLength(1);
  });

  it('is typed as its escape, which says the same', () => {
    const json = '{\n  "a": "x\u202e\u{e0041}ü <b>"\n}';
    expect(escapeHidden(json)).toBe('{\n  "a": "x\\u202e\\udb40\\udc41ü <b>"\n}');
    expect(JSON.parse(escapeHidden(json))).toEqual(JSON.parse(json));
  });

  it('loses nothing', () => {
    const text = 'a\u202eb😀\u{e0041}е';
    expect(markedParts(text).map((part) => part.text).join('')).toBe(text);
  });
});
