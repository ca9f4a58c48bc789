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
  const parts = problem.details.problems ?? [];
  const [first] = parts;
  // One problem alone is in the title already. The place of a name in a list tells people nothing.
  const isSaid = first !== undefined && words.title.endsWith(first.message);
  const title = isSaid && parts.length === 1 && first.field?.endsWith(']') ? first.message : words.title;
  return (
    <Alert color="red" role="alert" icon={<Icon name="warning" />} title={title || text.failed}>
      <ProblemHints words={words} />
      {parts.length > (isSaid ? 1 : 0) && (
        <List size="sm">
          {parts.map((part) => (
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
