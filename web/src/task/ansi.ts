// A run's output is written for a terminal. Colours are kept; whatever else a
// terminal would do on such commands – clear the screen, move about, rename the
// window, open links – is shown as a mark, or as it was written, and done by
// nothing.

export interface Look {
  colour?: number;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
}

/** A piece of text with one look; a mark stands for a command that was not obeyed. */
export interface Piece extends Look {
  text: string;
  mark?: boolean;
}

const escape = '\u001b';
// Commands with parameters, texts for the terminal itself, and the short ones.
 
const command = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[ -/]*[0-~]?)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Reads output piece by piece; a command may be cut in two between pieces. */
export class Terminal {
  private look: Look = {};
  private rest = '';

  /** With all set, every command is shown as it was written. */
  constructor(private readonly all = false) {}

  read(text: string): Piece[] {
    const whole = this.rest + text;
    const cut = unfinished(whole);
    this.rest = whole.slice(cut);
    return this.pieces(whole.slice(0, cut));
  }

  /** What is left when nothing follows any more. */
  end(): Piece[] {
    const left = this.rest;
    this.rest = '';
    return this.pieces(left);
  }

  private pieces(text: string): Piece[] {
    const out: Piece[] = [];
    let from = 0;
    for (const found of text.matchAll(command)) {
      this.add(out, text.slice(from, found.index));
      from = found.index + found[0].length;
      this.obey(out, found[0], text.charAt(from));
    }
    this.add(out, text.slice(from));
    return out;
  }

  private add(out: Piece[], text: string) {
    if (text !== '') out.push({ text, ...this.look });
  }

  private obey(out: Piece[], found: string, next: string) {
    const colours = found.startsWith(`${escape}[`) && found.endsWith('m');
    if (colours) this.look = lookAfter(this.look, found.slice(2, -1));
    if (this.all) out.push({ text: spelled(found), mark: true });
    else if (found === '\r') {
      // A line that is written over begins anew, on a line of its own.
      if (next !== '\n' && next !== '') out.push({ text: '\n' });
    } else if (!colours) out.push({ text: 'ESC', mark: true });
  }
}

/** Where a command begins that the text does not end. */
function unfinished(text: string): number {
  const at = text.lastIndexOf(escape);
  if (text.endsWith('\r')) return text.length - 1;
  if (at < 0 || text.length - at > 200) return text.length;
  const tail = text.slice(at);
   
  return /^\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b\n]*)?$/.test(tail) ? at : text.length;
}

/** Commands as they can be read: ␛[2J. */
function spelled(found: string): string {
   
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
      // Of the many colours only the sixteen with names are kept.
      if (code === 38 && list[at + 1] === 5 && (list[at + 2] ?? 16) < 16) next.colour = list[at + 2];
      at += list[at + 1] === 5 ? 2 : 4;
    }
  }
  return next;
}
