import { api, unwrap } from '@/api/client';
import { signal } from '@/api/signal';
import { Terminal, type Piece } from './ansi';

/** The number of lines in a block. The browser skips blocks that are out of sight. */
const blockLines = 200;
/** The most lines that are kept. Lines before them are dropped. */
const maxLines = 20_000;

export interface Block {
  key: number;
  pieces: readonly Piece[];
  lines: number;
}

export interface LogState {
  blocks: readonly Block[];
  /** The number of lines that were dropped at the beginning. */
  dropped: number;
  ended: boolean;
  /** Whether the last read of the log failed. It is repeated. */
  lost: boolean;
}

const emptyLog: LogState = { blocks: [], dropped: 0, ended: false, lost: false };

/** Appends pieces to the log, in blocks of lines. */
export function appendPieces(state: LogState, pieces: readonly Piece[]): LogState {
  const blocks = [...state.blocks];
  let last = blocks.pop() ?? { key: 0, pieces: [], lines: 0 };
  let open: Piece[] = [...last.pieces];
  let lines = last.lines;
  const close = () => {
    blocks.push({ key: last.key, pieces: open, lines });
    last = { key: last.key + 1, pieces: [], lines: 0 };
    open = [];
    lines = 0;
  };
  for (const piece of pieces) {
    const parts = piece.text.split('\n');
    parts.forEach((part, at) => {
      const ends = at < parts.length - 1;
      const text = ends ? `${part}\n` : part;
      if (text !== '') open.push({ ...piece, text });
      if (!ends) return;
      lines++;
      if (lines >= blockLines) close();
    });
  }
  if (open.length > 0) blocks.push({ key: last.key, pieces: joinAlike(open), lines });
  return dropOldLines({ ...state, blocks });
}

/** Joins neighbouring pieces that look alike. */
function joinAlike(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = [];
  for (const piece of pieces) {
    const before = out.at(-1);
    if (before && !piece.mark && looksAlike(before, piece)) out[out.length - 1] = { ...before, text: before.text + piece.text };
    else out.push(piece);
  }
  return out;
}

const looksAlike = (a: Piece, b: Piece) =>
  a.colour === b.colour && a.bold === b.bold && a.dim === b.dim && a.italic === b.italic && a.underline === b.underline && a.mark === b.mark;

function dropOldLines(state: LogState): LogState {
  let total = state.blocks.reduce((sum, block) => sum + block.lines, 0);
  let from = 0;
  let dropped = state.dropped;
  for (const block of state.blocks.slice(0, -1)) {
    if (total <= maxLines) break;
    total -= block.lines;
    dropped += block.lines;
    from++;
  }
  return from > 0 ? { ...state, blocks: state.blocks.slice(from), dropped } : state;
}

/** Hides the flag from the type checker, which does not know that it changes during an await. */
const isAborted = (signal: AbortSignal) => signal.aborted;

/** Follows the log of a run for as long as it has a listener. */
export class LogReader {
  private state = emptyLog;
  private written: string[] = [];
  private terminal: Terminal;
  private nextOffset = 0;
  private stop = new AbortController();
  private readonly changes = signal();

  constructor(readonly run: string, private all = false) {
    this.terminal = new Terminal(all);
  }

  readonly current = () => this.state;
  readonly text = () => this.written.join('');

  readonly listen = (listener: () => void) => {
    const isFirst = !this.changes.hasListeners();
    const stopListening = this.changes.subscribe(listener);
    if (isFirst) {
      this.stop = new AbortController();
      void this.follow(this.stop.signal);
    }
    return () => {
      stopListening();
      if (!this.changes.hasListeners()) this.stop.abort();
    };
  };

  /** Sets whether every command of the terminal is shown as it was written. */
  showAll(all: boolean) {
    if (all === this.all) return;
    this.all = all;
    this.terminal = new Terminal(all);
    this.set(appendPieces({ ...this.state, blocks: [], dropped: 0 }, this.terminal.read(this.text())));
  }

  private set(state: LogState) {
    this.state = state;
    this.changes.notify();
  }

  private async follow(signal: AbortSignal) {
    while (!signal.aborted && !this.state.ended) {
      try {
        await this.part(signal);
      } catch {
        if (isAborted(signal)) return;
        this.set({ ...this.state, lost: true });
        await new Promise((resolve) => setTimeout(resolve, 3_000));
      }
    }
  }

  private async part(signal: AbortSignal) {
    const part = await unwrap(api.GET('/v1/runs/{id}/log', { params: { path: { id: this.run }, query: { offset: this.nextOffset, wait: '25s' } }, signal }));
    if (isAborted(signal)) return;
    this.nextOffset = part.next;
    const text = part.chunks.map((chunk) => chunk.text).join('');
    if (text !== '') this.written.push(text);
    const pieces = [...this.terminal.read(text), ...(part.ended ? this.terminal.end() : [])];
    if (pieces.length > 0 || part.ended || this.state.lost) this.set({ ...appendPieces(this.state, pieces), ended: part.ended, lost: false });
  }
}
