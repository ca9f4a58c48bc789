import { Badge } from '@mantine/core';
import type { Task } from '@/api/types';
import { Icon, type IconName } from '@/ui/Icon';
import { useTaskText } from './text';
import classes from './task.module.css';

const badgeLooks: Record<Task['state'], { icon: IconName; look: string }> = {
  open: { icon: 'inbox', look: 'calm' },
  input_received: { icon: 'next', look: 'calm' },
  blocked: { icon: 'pause', look: 'calm' },
  deferred: { icon: 'clock', look: 'calm' },
  in_progress: { icon: 'robot', look: 'working' },
  awaiting_input: { icon: 'person', look: 'needs' },
  awaiting_approval: { icon: 'person', look: 'needs' },
  done: { icon: 'check', look: 'good' },
  failed: { icon: 'warning', look: 'bad' },
  cancelled: { icon: 'cross', look: 'calm' },
  skipped: { icon: 'next', look: 'calm' },
};

/** Shows the state of a task as a word, with an icon and a colour. */
export function StateBadge({ state }: { state: Task['state'] }) {
  const text = useTaskText();
  const { icon, look } = badgeLooks[state];
  return (
    <Badge variant="default" radius="sm" tt="none" fw={600} className={`${classes.state ?? ''} ${classes[look] ?? ''}`} leftSection={<Icon name={icon} size={13} />}>
      {text.states[state]}
    </Badge>
  );
}
