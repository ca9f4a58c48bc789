import { Button, Group, SegmentedControl, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useCommands } from '@/keys/useCommands';
import { Page } from '@/ui/Page';
import { taskCountsQuery } from './api';
import { FilterBar } from './FilterBar';
import { columnFrom, filtersOf, viewOf, views, type Search, type View } from './filters';
import { useLiveLists } from './live';
import { TaskBoard } from './TaskBoard';
import { TaskList } from './TaskList';
import { TaskTree } from './TaskTree';
import { useTaskText } from './text';
import { VerbsProvider } from './Verbs';

/** Shows all tasks: one query, as a list, a board or a tree. */
export default function TasksPage() {
  const text = useTaskText();
  const navigate = useNavigate();
  const search: Search = useSearch({ strict: false });
  const filters = useMemo(() => filtersOf(search), [search]);
  const view = viewOf(search);
  const change = (next: Search) => void navigate({ to: '/tasks', search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  const show = (next: View) => change({ view: next === 'list' ? '' : next });
  const { data: counts } = useQuery(taskCountsQuery(filters));
  useLiveLists();
  useCommands([
    { id: 'new-task', title: text.newTask, group: text.keys, keys: ['c'], run: () => void navigate({ to: '/tasks/new' }) },
    ...views.map((each, at) => ({ id: `view-${each}`, title: text.showAs(text.views[each]), group: text.keys, keys: [`v ${['l', 'b', 't'][at] ?? ''}`], run: () => show(each) })),
  ]);
  return (
    <Page
      title={text.tasks}
      wide={view === 'board'}
      actions={<Button renderRoot={(props) => <Link to="/tasks/new" {...props} />}>{text.newTask}</Button>}
    >
      <VerbsProvider>
        <Group justify="space-between" mb="sm" gap="xs">
          <SegmentedControl value={view} onChange={(value) => show(value)} data={views.map((each) => ({ value: each, label: text.views[each] }))} aria-label={text.view} />
          <Text size="sm" c="dimmed">{counts && text.count(counts.total)}</Text>
        </Group>
        <FilterBar filters={filters} change={change} />
        {view === 'list' && <TaskList filters={filters} />}
        {view === 'board' && <TaskBoard filters={filters} column={columnFrom(search)} onColumn={(column) => change({ column })} />}
        {view === 'tree' && <TaskTree filters={filters} />}
      </VerbsProvider>
    </Page>
  );
}
