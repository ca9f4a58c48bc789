import { useText } from './text';
import type { DefinitionProblem } from './types';
import classes from './Workflow.module.css';

export type Marks = Map<number, 'problem' | 'warning'>;

/** Returns the lines that have a problem or a warning. */
export function marksOf(problems: readonly DefinitionProblem[]): Marks {
  const marks: Marks = new Map();
  for (const { line, warning } of problems) {
    if (!warning || !marks.has(line)) marks.set(line, warning ? 'warning' : 'problem');
  }
  return marks;
}

function Numbers({ count, marks }: { count: number; marks: Marks }) {
  return (
    <pre className={classes.numbers} aria-hidden>
      {Array.from({ length: count }, (_, at) => <span key={at} data-wrong={marks.get(at + 1)}>{at + 1}</span>)}
    </pre>
  );
}

const linesOf = (source: string) => source.split('\n').length;

/** Shows a definition with the numbers of its lines. */
export function SourceView({ source, problems }: { source: string; problems: readonly DefinitionProblem[] }) {
  const text = useText();
  return (
    <div className={`${classes.source ?? ''} ${classes.shown ?? ''}`} tabIndex={0} role="group" aria-label={text.definition}>
      <Numbers count={linesOf(source)} marks={marksOf(problems)} />
      <pre className={classes.lines}>{source}</pre>
    </div>
  );
}
