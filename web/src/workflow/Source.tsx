import { useRef, type KeyboardEvent, type Ref } from 'react';
import type { DefinitionProblem } from './api';
import { useText } from './text';
import classes from './Workflow.module.css';

export type Marks = Map<number, 'problem' | 'warning'>;

/** Which lines have something wrong. */
export function marksOf(problems: readonly DefinitionProblem[]): Marks {
  const marks: Marks = new Map();
  for (const { line, warning } of problems) {
    if (!warning || !marks.has(line)) marks.set(line, warning ? 'warning' : 'problem');
  }
  return marks;
}

function Numbers({ count, marks, ref }: { count: number; marks: Marks; ref?: Ref<HTMLPreElement> }) {
  return (
    <pre className={classes.numbers} aria-hidden ref={ref}>
      {Array.from({ length: count }, (_, at) => <span key={at} data-wrong={marks.get(at + 1)}>{at + 1}</span>)}
    </pre>
  );
}

const linesOf = (source: string) => source.split('\n').length;

/** A definition to read, with the numbers of its lines. */
export function SourceView({ source, problems }: { source: string; problems: readonly DefinitionProblem[] }) {
  const text = useText();
  return (
    <div className={`${classes.source ?? ''} ${classes.shown ?? ''}`} tabIndex={0} role="group" aria-label={text.definition}>
      <Numbers count={linesOf(source)} marks={marksOf(problems)} />
      <pre className={classes.lines}>{source}</pre>
    </div>
  );
}

interface Props {
  value: string;
  set: (value: string) => void;
  marks: Marks;
  ref: React.RefObject<HTMLTextAreaElement | null>;
  describedBy?: string;
  invalid?: boolean;
}

/** A definition to write. The numbers go along with the lines. */
export function SourceField({ value, set, marks, ref, describedBy, invalid }: Props) {
  const text = useText();
  const numbers = useRef<HTMLPreElement>(null);
  const count = linesOf(value);
  // A new line begins where the one before did: that is how YAML is written.
  const indent = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const area = event.currentTarget;
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey || event.nativeEvent.isComposing || area.selectionStart !== area.selectionEnd) return;
    const before = value.slice(0, area.selectionStart);
    const blanks = /^ */.exec(before.slice(before.lastIndexOf('\n') + 1))?.[0] ?? '';
    if (!blanks) return;
    event.preventDefault();
    area.setRangeText(`\n${blanks}`, area.selectionStart, area.selectionEnd, 'end');
    set(area.value);
  };
  return (
    <div className={classes.source}>
      <Numbers count={count} marks={marks} ref={numbers} />
      <textarea
        className={classes.lines} ref={ref} value={value} rows={Math.min(Math.max(count + 1, 14), 34)} wrap="off" spellCheck={false} autoCapitalize="off" autoCorrect="off"
        aria-label={text.definition} aria-describedby={describedBy} aria-invalid={invalid || undefined} onKeyDown={indent}
        onChange={(event) => set(event.currentTarget.value)}
        onScroll={(event) => { if (numbers.current) numbers.current.scrollTop = event.currentTarget.scrollTop; }}
       
      />
    </div>
  );
}
