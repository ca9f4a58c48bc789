import { Button, Group } from '@mantine/core';
import type { Task } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { useTaskText } from './text';
import { useVerbs } from './Verbs';
import { verbsFor } from './verb';
import { verbNames } from './verbNames';

/** Shows the verbs of a task as buttons. The palette offers them, too. */
export function VerbButtons({ task }: { task: Task }) {
  const text = useTaskText();
  const { act, mayChange } = useVerbs();
  const names = verbNames(text, task);
  const verbs = mayChange ? verbsFor(task) : [];
  useCommands(verbs.map((verb) => ({ id: `task-${verb}`, title: names[verb], group: text.task, run: () => act(verb, task) })));
  if (verbs.length === 0) return null;
  return (
    <Group gap="xs">
      {verbs.map((verb) => (
        <Button key={verb} size="compact-sm" mih={32} variant="default" onClick={() => act(verb, task)}>{names[verb]}</Button>
      ))}
    </Group>
  );
}
