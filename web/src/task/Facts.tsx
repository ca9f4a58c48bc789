import { Badge, Button, CopyButton, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Task } from '@/api/types';
import { useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { usePageText } from './pageText';
import classes from './task.module.css';
import { useTaskText } from './text';
import { useNameOf } from './useNameOf';

/** Shows the facts of a task, beside its history. */
export function Facts({ task }: { task: Task }) {
  const text = usePageText();
  const words = useTaskText();
  const times = useTime();
  const nameOf = useNameOf();
  const session = task.session;
  return (
    <Stack component="section" gap="xs" aria-label={text.details}>
      <dl className={classes.details}>
        <Fact name={words.project}><Link to="/tasks" search={{ project: task.project }}>{task.project}</Link></Fact>
        {task.agent && <Fact name={words.agent}><Link to="/tasks" search={{ agent: task.agent }}><Visible text={task.agent} /></Link></Fact>}
        <Fact name={words.priority}>{words.priorities[task.priority]}</Fact>
        {task.size && <Fact name={words.size}>{words.sizes[task.size]}</Fact>}
        {task.runner && <Fact name={text.runner}>{task.runner}</Fact>}
        {task.isolated && <Fact name={text.isolation}>{text.isolated}</Fact>}
        <Fact name={text.madeBy}>{nameOf(task.created_by)}, <time dateTime={task.created_at}>{times.full(task.created_at)}</time></Fact>
        <Fact name={text.updated}><time dateTime={task.updated_at}>{times.full(task.updated_at)}</time></Fact>
        {task.attempts > 0 && <Fact name={text.attemptsLabel}>{text.lostAttempts(task.attempts, task.max_attempts)}</Fact>}
        {session?.branch && <Fact name={text.branch}><code>{session.branch}</code></Fact>}
        {session?.worker && <Fact name="Worker">{session.worker}</Fact>}
        {session?.id && <Fact name={text.session}><code>{session.id}</code></Fact>}
        <Fact name={text.identifier}>
          <Group gap={6} wrap="wrap" component="span">
            <code>{task.id}</code>
            <CopyButton value={task.id}>{({ copied, copy }) => <Button size="compact-xs" variant="default" onClick={copy}>{copied ? text.copied : text.copy}</Button>}</CopyButton>
          </Group>
        </Fact>
      </dl>
      {task.labels && task.labels.length > 0 && (
        <Group gap={6} component="ul" p={0} m={0} aria-label={words.labels}>
          {task.labels.map((label) => (
            <Text component="li" key={label} size="sm" className={classes.plain}>
              <Badge variant="outline" color="gray" tt="none" fw={500} className={classes.label} renderRoot={(props) => <Link to="/tasks" search={{ label }} {...props} />}>{label}</Badge>
            </Text>
          ))}
        </Group>
      )}
    </Stack>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
