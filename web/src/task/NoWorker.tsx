import { Code, Stack, Text } from '@mantine/core';
import type { Task } from '@/api/types';
import { useWaitingText } from './waitingText';

/** Shows the command that starts a worker for a task that no running worker takes. */
export function NoWorker({ task, why }: { task: Task; why?: string }) {
  const text = useWaitingText();
  if (!task.no_worker) return null;
  return (
    <Stack gap={4} data-no-worker>
      {why && <Text size="sm">{why}</Text>}
      <Text size="sm">{text.startOne}</Text>
      <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap' }}>{task.no_worker.start}</Code>
    </Stack>
  );
}
