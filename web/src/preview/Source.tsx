import { memo, useMemo } from 'react';
import { Visible } from '@/text/Visible';
import { Code } from './Code';
import codeClasses from './Code.module.css';
import { changedLines, linesOf, type Line, type Token } from './highlight';
import classes from './Source.module.css';

const linesAtOnce = 200;

interface Props {
  /** The path of the file, which tells its language. */
  path: string;
  label: string;
}

/** Shows the text of a file in the colours of its language. */
export function Source({ text, path, label }: Props & { text: string }) {
  const lines = useMemo(() => linesOf(text, path), [text, path]);
  return lines ? <Lines lines={lines} label={label} /> : <Code text={text} strict label={label} />;
}

/** Shows the lines that a change takes away and adds, and the lines around them. */
export function Difference({ before, after, path, label }: Props & { before: string; after: string }) {
  const lines = useMemo(() => changedLines(before, after, path), [before, after, path]);
  return <Lines lines={lines} label={label} />;
}

const Lines = memo(function Lines({ lines, label }: { lines: Line[]; label: string }) {
  const blocks = useMemo(() => Array.from({ length: Math.ceil(lines.length / linesAtOnce) }, (_, n) => lines.slice(n * linesAtOnce, (n + 1) * linesAtOnce)), [lines]);
  return (
    <div className={codeClasses.code} dir="ltr" role="group" aria-label={label} tabIndex={0}>
      {blocks.map((block, at) => (
        <div key={at} className={blocks.length > 1 ? codeClasses.far : undefined}>
          {block.map((line, n) => <div key={n} className={line.sign === '+' ? codeClasses.added : line.sign === '-' ? codeClasses.removed : undefined}>{line.sign && `${line.sign} `}<Tokens tokens={line.tokens} marksEnd={line.sign === '+' || line.sign === '-'} />{'\n'}</div>)}
        </div>
      ))}
    </div>
  );
});

/** Shows a line in its colours. In a changed line, blanks at the end are marked. */
function Tokens({ tokens, marksEnd }: { tokens: Token[]; marksEnd: boolean }) {
  const blanks = marksEnd ? (/[ \t]+$/.exec(tokens.at(-1)?.text ?? '')?.[0] ?? '') : '';
  return (
    <>
      {tokens.map(({ text, role }, at) => {
        const shown = at === tokens.length - 1 ? text.slice(0, text.length - blanks.length) : text;
        return role ? <span key={at} className={classes[role]}>{shown}</span> : <Visible key={at} text={shown} strict />;
      })}
      {blanks && <span className={codeClasses.blanks}>{blanks}</span>}
    </>
  );
}
