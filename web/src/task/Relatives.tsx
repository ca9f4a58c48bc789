import { Group, Stack, Text, Title } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { asProblem } from '@/api/problem';
import type { Task } from '@/api/types';
import { Visible } from '@/text/Visible';
import { taskQuery, treeQuery } from './api';
import { useLiveTasks } from './live';
import { usePageText } from './pageText';
import { StateBadge } from './StateBadge';
import classes from './task.module.css';

const none: string[] = [];

/** Shows the tasks around a task: its parent, the tasks that it waits for, and its children. */
export function Relatives({ task }: { task: Task }) {
  const text = usePageText();
  const { data: tree } = useQuery(treeQuery(task.id));
  const children = tree?.items.filter((each) => each.parent_id === task.id) ?? [];
  useLiveTasks(children.map((child) => child.id));
  return (
    <>
      {task.parent_id && <OtherTasks title={text.parent} ids={[task.parent_id]} />}
      {(task.blocked_by?.length ?? 0) > 0 && <OtherTasks title={text.dependsOn} ids={task.blocked_by ?? none} />}
      {children.length > 0 && (
        <section>
          <Group justify="space-between" mb={4}>
            <Title order={2} size="h6">{text.children}</Title>
            <Text size="sm"><Link to="/tasks" search={{ view: 'tree', parent: task.id }} className={classes.other}>{text.showTree}</Link></Text>
          </Group>
          <Stack gap={6}>{children.map((child) => <Relative key={child.id} task={child} />)}</Stack>
        </section>
      )}
    </>
  );
}

function OtherTasks({ title, ids }: { title: string; ids: readonly string[] }) {
  const found = useQueries({ queries: ids.map((id) => taskQuery(id)) });
  return (
    <section>
      <Title order={2} size="h6" mb={4}>{title}</Title>
      <Stack gap={6}>
        {found.map(({ data, error }, at) => (data ? <Relative key={data.id} task={data} /> : <Text key={ids[at]} size="sm" c="dimmed">{error ? asProblem(error).message : '…'}</Text>))}
      </Stack>
    </section>
  );
}

function Relative({ task }: { task: Task }) {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <StateBadge state={task.state} />
      <Link to="/tasks/$id" params={{ id: task.id }} className={classes.other}><Visible text={task.title} /></Link>
    </Group>
  );
}
