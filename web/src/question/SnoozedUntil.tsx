import { Button, Group, Text } from '@mantine/core';
import type { Question } from '@/api/types';
import { useTime } from '@/text/time';
import { useTellRefusal } from '@/ui/problemWords';
import { useText } from './text';
import { useSnooze } from './useSnooze';

/** Shows until when a question is out of the reader's inbox, and puts it back. */
export function SnoozedUntil({ question }: { question: Question }) {
  const text = useText();
  const time = useTime();
  const snooze = useSnooze([question]);
  const tellRefusal = useTellRefusal();
  if (!question.snoozed_until) return null;
  return (
    <Group gap="xs">
      <Text size="sm">{text.snoozed(time.full(question.snoozed_until))}</Text>
      <Button size="compact-sm" variant="default" onClick={() => snooze.mutate(undefined, { onError: tellRefusal })}>{text.wake}</Button>
    </Group>
  );
}
