import { Code, Stack, Text } from '@mantine/core';
import type { Task } from '@/api/types';
import { useTaskText } from './text';
import { isPaused } from './verb';

/** Shows how a person opens the session of a paused task by hand, and hands it back. */
export function TakeOver({ task }: { task: Task }) {
  const text = useTaskText();
  if (!isPaused(task)) return null;
  return (
    <Stack gap={4} data-take-over>
      {task.take_over && <Text size="sm">{text.takeOver(task.session?.worker ?? '')}</Text>}
      {task.take_over && <Code block tabIndex={0}>{task.take_over}</Code>}
      <Text size="sm" c="dimmed">{text.handBackHow}</Text>
    </Stack>
  );
}
