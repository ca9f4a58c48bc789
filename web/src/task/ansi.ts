// A run writes its output for a terminal. Colours are kept. All other terminal
// commands are ignored, such as those that clear the screen, move the cursor,
// rename the window or open links. They are shown as a mark, or as they were
// written.

export interface Look {
  colour?: number;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
}

/** A piece of text with one look. A mark is shown in place of a command that was ignored. */
export interface Piece extends Look {
  text: string;
  mark?: boolean;
}

const escape = '\u001b';
// Matches control sequences with parameters (CSI), strings for the terminal itself (OSC, DCS), short escape sequences,
// and other control characters.
 
const command = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[ -/]*[0-~]?)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Reads output piece by piece. A command may be split between two pieces. */
export class Terminal {
  private look: Look = {};
  private rest = '';

  /** If `all` is set, every command is shown as it was written. */
  constructor(private readonly all = false) {}

  read(text: string): Piece[] {
    const whole = this.rest + text;
    const cut = unfinishedStart(whole);
    this.rest = whole.slice(cut);
    return this.pieces(whole.slice(0, cut));
  }

  /** Returns the rest when no more output follows. */
  end(): Piece[] {
    const unread = this.rest;
    this.rest = '';
    return this.pieces(unread);
  }

  private pieces(text: string): Piece[] {
    const out: Piece[] = [];
    let from = 0;
    for (const found of text.matchAll(command)) {
      this.add(out, text.slice(from, found.index));
      from = found.index + found[0].length;
      this.applyCommand(out, found[0], text.charAt(from));
    }
    this.add(out, text.slice(from));
    return out;
  }

  private add(out: Piece[], text: string) {
    if (text !== '') out.push({ text, ...this.look });
  }

  private applyCommand(out: Piece[], found: string, next: string) {
    const colours = found.startsWith(`${escape}[`) && found.endsWith('m');
    if (colours) this.look = lookAfter(this.look, found.slice(2, -1));
    if (this.all) out.push({ text: visibleCommand(found), mark: true });
    else if (found === '\r') {
      // A text that overwrites a line begins on a line of its own.
      if (next !== '\n' && next !== '') out.push({ text: '\n' });
    } else if (!colours) out.push({ text: 'ESC', mark: true });
  }
}

/** Returns where the unfinished command at the end of the text begins, or the end of the text. */
function unfinishedStart(text: string): number {
  const at = text.lastIndexOf(escape);
  if (text.endsWith('\r')) return text.length - 1;
  if (at < 0 || text.length - at > 200) return text.length;
  const tail = text.slice(at);
   
  return /^\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b\n]*)?$/.test(tail) ? at : text.length;
}

/** Returns a command in a readable form: ␛[2J. */
function visibleCommand(found: string): string {
   
  return found.replace(/[\u0000-\u001f\u007f-\u009f]/g, (char) => {
    const code = char.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '␡' : `U+00${code.toString(16).toUpperCase()}`;
  });
}

function lookAfter(look: Look, codes: string): Look {
  let next = { ...look };
  const list = codes.split(/[;:]/).map(Number);
  for (let at = 0; at < list.length; at++) {
    const code = list[at] ?? 0;
    if (code === 0) next = {};
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 22) next = { ...next, bold: undefined, dim: undefined };
    else if (code === 23) next.italic = undefined;
    else if (code === 24) next.underline = undefined;
    else if (code >= 30 && code <= 37) next.colour = code - 30;
    else if (code >= 90 && code <= 97) next.colour = code - 90 + 8;
    else if (code === 39) next.colour = undefined;
    else if (code === 38 || code === 48) {
      // Only the sixteen colours with names are kept.
      if (code === 38 && list[at + 1] === 5 && (list[at + 2] ?? 16) < 16) next.colour = list[at + 2];
      at += list[at + 1] === 5 ? 2 : 4;
    }
  }
  return next;
}
