import { Badge, Button, Group, Text } from '@mantine/core';
import { Visible } from '@/text/Visible';
import { Icon } from '@/ui/Icon';
import { useText } from './text';
import type { DefinitionProblem } from './types';
import classes from './Workflow.module.css';

/** Shows the problems of a definition by line. The reader can go to a line. */
export function Problems({ problems, onLine }: { problems: readonly DefinitionProblem[]; onLine?: (line: number, column: number) => void }) {
  const text = useText();
  if (problems.length === 0) return null;
  const warnings = problems.filter(({ warning }) => warning).length;
  const summary = [problems.length > warnings && text.problems(problems.length - warnings), warnings > 0 && text.warnings(warnings)].filter(Boolean).join(', ');
  return (
    <section aria-label={summary}>
      <Text fw={600} size="sm" mb={6}>{summary}</Text>
      <ol className={classes.problems}>
        {problems.map((problem, at) => (
          <li key={at} className={classes.wrong} data-warning={problem.warning === true} data-problem={problem.line}>
            <Group gap={8} mb={2}>
              <Badge variant="default" radius="sm" tt="none" fw={500} leftSection={<Icon name="warning" size={12} />}>{problem.warning ? text.warning : text.problem}</Badge>
              {onLine ? <Button size="compact-xs" mih={26} variant="default" onClick={() => onLine(problem.line, problem.column)}>{text.line(problem.line)}</Button> : <Text size="sm">{text.line(problem.line)}</Text>}
              {problem.path && <Text span size="xs" c="dimmed"><code>{problem.path}</code></Text>}
            </Group>
            <Text size="sm"><Visible text={problem.message} /></Text>
            {problem.hint && <Text size="sm" c="dimmed"><Visible text={problem.hint} /></Text>}
            {problem.excerpt && <pre className={classes.excerpt} tabIndex={0} role="group" aria-label={text.line(problem.line)}>{problem.excerpt}</pre>}
          </li>
        ))}
      </ol>
    </section>
  );
}
