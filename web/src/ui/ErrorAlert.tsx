import { Alert, Button, List } from '@mantine/core';
import { asProblem } from '@/api/problem';
import { useText } from '@/shell/text';
import { Icon } from './Icon';
import { ProblemHints, useProblemWords } from './problemWords';

/** Shows an error, what to do about it, and a way to try again. */
export function ErrorAlert({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const text = useText();
  const problem = asProblem(error);
  const words = useProblemWords()(problem);
  return (
    <Alert color="red" role="alert" icon={<Icon name="warning" />} title={words.title || text.failed}>
      <ProblemHints words={words} />
      {problem.details.problems && problem.details.problems.length > 0 && (
        <List size="sm">
          {problem.details.problems.map((part) => (
            <List.Item key={`${part.field ?? ''} ${part.message}`}>
              {part.field && <code>{part.field}</code>} {part.message}
            </List.Item>
          ))}
        </List>
      )}
      {onRetry && (
        <Button mt="sm" size="compact-sm" variant="default" onClick={onRetry}>
          {text.tryAgain}
        </Button>
      )}
    </Alert>
  );
}
