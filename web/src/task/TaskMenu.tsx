import { ActionIcon, Menu } from '@mantine/core';
import type { Task } from '@/api/types';
import { Icon } from '@/ui/Icon';
import { useTaskText } from './text';
import { useVerbs } from './Verbs';
import { verbsFor } from './verb';
import { verbNames } from './verbNames';

/** Shows the menu of a task's verbs. With it, the reader moves a task without dragging. */
export function TaskMenu({ task }: { task: Task }) {
  const text = useTaskText();
  const { act, mayChange } = useVerbs();
  if (!mayChange) return null;
  const names = verbNames(text, task);
  return (
    <Menu position="bottom-end" width={240} withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={32} aria-label={text.moreOf(task.title)} data-task-menu>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {verbsFor(task).map((verb) => (
          <Menu.Item key={verb} color={verb === 'cancel' ? 'red' : undefined} onClick={() => act(verb, task)}>
            {names[verb]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
