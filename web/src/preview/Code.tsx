import { memo, useMemo } from 'react';
import { Visible } from '@/text/Visible';
import classes from './Code.module.css';

const linesAtOnce = 200;
const longestPiece = 4_000;

/** Returns the style for a line of a diff. The beginning of the line decides. */
export function kindOf(line: string): string | undefined {
  if (/^(\+\+\+|---|diff |index )/.test(line)) return classes.file;
  if (line.startsWith('@@')) return classes.hunk;
  if (line.startsWith('+')) return classes.added;
  if (line.startsWith('-')) return classes.removed;
  return undefined;
}

/**
 * Shows a text in full, however long it is. The browser lays out only the
 * blocks near the visible ones.
 */
export const Code = memo(function Code({ text, diff, strict, shell, label }: { text: string; diff?: boolean; strict?: boolean; /** Whether the text is a command. */ shell?: boolean; label: string }) {
  const blocks = useMemo(() => cut(text), [text]);
  return (
    <div className={classes.code} dir="ltr" role="group" aria-label={label} tabIndex={0} data-shell={shell || undefined}>
      {blocks.map((block, at) => (
        <div key={at} className={blocks.length > 1 ? classes.far : undefined}>
          {diff ? block.map((line, n) => <div key={n} className={kindOf(line)}><Visible text={line || ' '} strict={strict} /></div>) : <Visible text={block.join('\n')} strict={strict} />}
        </div>
      ))}
    </div>
  );
});

/** Cuts a text into blocks of lines. A line that is too long to read is cut into pieces. */
export function cut(text: string): string[][] {
  const blocks: string[][] = [];
  let block: string[] = [];
  let size = 0;
  for (const line of text.replace(/\r\n/g, '\n').split('\n')) {
    for (let at = 0; at === 0 || at < line.length; at += longestPiece) {
      const piece = line.slice(at, at + longestPiece);
      block.push(piece);
      size += piece.length;
      if (block.length < linesAtOnce && size < longestPiece * 4) continue;
      blocks.push(block);
      block = [];
      size = 0;
    }
  }
  if (block.length > 0) blocks.push(block);
  return blocks;
}
