import { Badge, Box, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { serverNow } from '@/api/time';
import type { Task } from '@/api/types';
import { Icon } from '@/ui/Icon';
import { useLanguage } from '@/text/language';
import { Visible } from '@/text/Visible';
import { useTime } from '@/text/time';
import { StateBadge } from './StateBadge';
import { useTaskText } from './text';
import { TaskMenu } from './TaskMenu';
import classes from './task.module.css';
import { momentOf, roughDuration } from './waiting';

interface Props {
  task: Task;
  /** Whether the state is shown above the card already. */
  bare?: boolean;
  /** Whether the task has left the list in which it is still shown. */
  gone?: boolean;
  /** The current time, from which the ages on the card are computed. */
  now: number;
}

/** Shows a task in a list or on the board: its agent, its age, how long it waits and for what. */
export const TaskCard = memo(function TaskCard({ task, bare, gone, now }: Props) {
  const text = useTaskText();
  return (
    <Box className={`${classes.card ?? ''} ${gone ? (classes.moved ?? '') : ''}`} data-task={task.id}>
      <Group justify="space-between" align="flex-start" wrap="nowrap" gap="xs">
        <Box miw={0} flex={1}>
          <Link to="/tasks/$id" params={{ id: task.id }} className={classes.title} data-task-link>
            <Visible text={task.title} />
          </Link>
          {gone && <Text size="sm" fw={600}>{text.away}</Text>}
        </Box>
        <TaskMenu task={task} />
      </Group>
      {task.waiting && (
        <Text component="div" className={classes.question} mb={4}>
          <Icon name="person" size={14} />
          <span><Visible text={task.waiting.title} /></span>
        </Text>
      )}
      <TaskFacts task={task} bare={bare} now={now} />
    </Box>
  );
});

/** Shows the short facts of a task, in one line that wraps. */
export function TaskFacts({ task, bare, now }: Pick<Props, 'task' | 'bare' | 'now'>) {
  const text = useTaskText();
  const times = useTime();
  const language = useLanguage();
  return (
    <div className={classes.facts}>
      {(!bare || !plainStates.has(task.state)) && <StateBadge state={task.state} />}
      {task.no_worker && <span><Icon name="warning" size={13} />{text.noWorker}</span>}
      {task.waiting && <span><Icon name="clock" size={13} />{text.waits(roughDuration(now - Date.parse(task.waiting.since)))}</span>}
      {task.waiting?.deadline && <span>{text.left(roughDuration(Date.parse(task.waiting.deadline) - now))}</span>}
      {task.state === 'deferred' && task.defer_until && <span>{text.until(momentOf(task.defer_until, { language, now }))}</span>}
      {task.agent && <span><Icon name="robot" size={13} />{task.agent}</span>}
      {task.project !== 'default' && <span>{task.project}</span>}
      {task.priority !== 2 && <span>{text.priority}: {text.priorities[task.priority]}</span>}
      <time dateTime={task.created_at} title={times.full(task.created_at)}>{text.made(times.relative(task.created_at, now))}</time>
      {task.labels?.map((label) => <Badge key={label} variant="outline" color="gray" size="sm" tt="none" fw={500} className={classes.label}>{label}</Badge>)}
    </div>
  );
}

/** The states that say no more than their column. */
const plainStates = new Set<Task['state']>(['open', 'in_progress', 'awaiting_input', 'awaiting_approval', 'done']);

/** Returns the server's time in steps of ten seconds, which is precise enough for ages. */
export const coarseTime = (now = serverNow()) => Math.ceil(now / 10_000) * 10_000;
