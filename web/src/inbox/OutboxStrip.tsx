import { Badge, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { dismiss, flush, type Entry } from '@/outbox/outbox';
import { useProblemWords } from '@/ui/problemWords';
import { useText } from './text';
import { useOutbox } from './useInbox';

const colors = { sending: 'gray', queued: 'yellow', accepted: 'green', refused: 'red' };

/** Shows the answers that could not be sent at once, each with its state. */
export function OutboxStrip() {
  const text = useText();
  const wordsOf = useProblemWords();
  const entries = useOutbox().filter((entry) => entry.waited);
  if (entries.length === 0) return null;
  const why = ({ problem }: Entry) => problem && wordsOf({ code: problem.code, message: problem.detail }).title;
  const word = (entry: Entry) => (entry.problem?.code === 'question_closed' ? text.tooLate : text[`state_${entry.state}`]);
  return (
    <Paper withBorder p="sm" mb="md" component="section" aria-label={text.outbox} data-outbox>
      <Group justify="space-between" mb="xs">
        <Text fw={600} size="sm">{text.outbox}</Text>
        {entries.some((entry) => entry.state === 'queued') && <Button size="compact-sm" variant="default" onClick={() => void flush()}>{text.sendNow}</Button>}
      </Group>
      <Stack gap={6} role="status">
        {entries.map((entry) => (
          <Group key={entry.key} gap="xs" wrap="nowrap" data-entry={entry.state}>
            <Badge color={colors[entry.state]} variant="light" tt="none" autoContrast>{word(entry)}</Badge>
            <Text size="sm" truncate flex={1} miw={0}>{entry.said} · {entry.title}{entry.problem && entry.state !== 'accepted' ? ` – ${why(entry) ?? ''}` : ''}</Text>
            {(entry.state === 'accepted' || entry.state === 'refused') && <Button size="compact-sm" variant="subtle" onClick={() => void dismiss(entry)}>{text.dismiss}</Button>}
          </Group>
        ))}
      </Stack>
    </Paper>
  );
}
