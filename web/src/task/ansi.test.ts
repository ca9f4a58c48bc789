import { describe, expect, it } from 'vitest';
import { Terminal } from './ansi';
import { appendPieces, type LogState } from './log';

const read = (text: string, all = false) => {
  const terminal = new Terminal(all);
  return [...terminal.read(text), ...terminal.end()];
};
const shown = (text: string, all = false) => read(text, all).map((piece) => piece.text).join('');

describe('output for a terminal', () => {
  it('keeps colours', () => {
    expect(read('\u001b[1;31mred\u001b[0m plain')).toEqual([{ text: 'red', bold: true, colour: 1 }, { text: ' plain' }]);
    expect(read('\u001b[38;5;10mgreen\u001b[39m')).toEqual([{ text: 'green', colour: 10 }]);
    expect(read('\u001b[38;2;1;2;3mtrue colour')).toEqual([{ text: 'true colour' }]);
  });

  it('hides nothing: concealed text is text', () => expect(read('\u001b[8msecret')).toEqual([{ text: 'secret' }]));

  it('obeys no command, and marks it', () => {
    expect(shown('a\u001b[2Jb\u001b[1;1Hc')).toBe('aESCbESCc');
    expect(shown('\u001b]0;title\u0007x')).toBe('ESCx');
    expect(shown('\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007')).toBe('ESCclickESC');
    expect(shown('a\bb\u0000\u009b2J')).toBe('aESCbESCESC2J');
  });

  it('shows commands as they were written, when asked', () => {
    expect(shown('a\u001b[2Jb\u001b[31mc', true)).toBe('a␛[2Jb␛[31mc');
    expect(shown('50%\r100%\n', true)).toBe('50%␍100%\n');
  });

  it('gives a line that is written over a line of its own', () => {
    expect(shown('10%\r50%\r100%\r\ndone\n')).toBe('10%\n50%\n100%\ndone\n');
  });

  it('reads a command that is cut in two', () => {
    const terminal = new Terminal();
    expect(terminal.read('a\u001b[3')).toEqual([{ text: 'a' }]);
    expect(terminal.read('1mb\r')).toEqual([{ text: 'b', colour: 1 }]);
    expect(terminal.read('\nc')).toEqual([{ text: '\nc', colour: 1 }]);
  });

  it('does not wait for the end of what never ends', () => {
    const terminal = new Terminal();
    expect(terminal.read(`\u001b]0;${'x'.repeat(300)}`).length).toBeGreaterThan(0);
  });
});

describe('a log', () => {
  const empty: LogState = { blocks: [], dropped: 0, ended: false, lost: false };
  const text = (state: LogState) => state.blocks.flatMap((block) => block.pieces.map((piece) => piece.text)).join('');

  it('stands in blocks whose keys stay', () => {
    const first = appendPieces(empty, [{ text: 'line\n'.repeat(450) }]);
    expect(first.blocks.map((block) => [block.key, block.lines])).toEqual([[0, 200], [1, 200], [2, 50]]);
    const second = appendPieces(first, [{ text: 'more\n' }]);
    expect(second.blocks[0]).toBe(first.blocks[0]);
    expect(second.blocks.at(-1)?.lines).toBe(51);
    expect(text(second)).toBe(`${'line\n'.repeat(450)}more\n`);
  });

  it('drops the beginning of a very long one, and says so', () => {
    const long = appendPieces(empty, [{ text: 'x\n'.repeat(30_000) }]);
    expect(long.dropped).toBe(10_000);
    expect(text(long).length).toBe(40_000);
  });
});
