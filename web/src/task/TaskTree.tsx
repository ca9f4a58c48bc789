import { ActionIcon, Box, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useNow } from '@/ui/useNow';
import { Loading } from '@/ui/Loading';
import type { Filters } from './filters';
import { focusTask } from './focus';
import { NewTasksButton } from './NewTasksButton';
import list from './list.module.css';
import { NoTasks } from './NoTasks';
import { coarseTime, TaskCard } from './TaskCard';
import { useTaskText } from './text';
import { treeRows, type TreeRow } from './tree';
import classes from './tree.module.css';
import { useOffset } from './useOffset';
import { useIsBeingRead } from '@/ui/useIsBeingRead';
import { useTaskKeys } from './useTaskKeys';
import { useTasks } from './useTasks';

/** Shows the same tasks as a tree of parents and children. */
export function TaskTree({ filters }: { filters: Filters }) {
  const box = useRef<HTMLDivElement>(null);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [isBeingRead, release] = useIsBeingRead(box);
  const { shown, gone, fresh, query } = useTasks(filters, undefined, isBeingRead);
  const entries = useMemo(() => treeRows(shown, folded), [shown, folded]);
  const now = coarseTime(useNow());
  const offset = useOffset(box, entries.length > 0);
  const rows = useWindowVirtualizer({
    count: entries.length, estimateSize: () => 76, gap: 6, overscan: 8, scrollMargin: offset, scrollPaddingStart: 64, getItemKey: (at) => entries[at]?.task.id ?? at,
  });
  // Children may be on any page, so a tree reads all pages.
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  useTaskKeys({
    ids: () => entries.map((branch) => branch.task.id),
    go: (id, at) => {
      rows.scrollToIndex(at, { align: 'auto' });
      focusTask(id);
    },
  });
  const fold = (id: string) =>
    setFolded((now) => {
      const next = new Set(now);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  return (
    <div ref={box}>
      {query.error && <ErrorAlert error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading />}
      {query.isSuccess && entries.length === 0 && <NoTasks filters={filters} />}
      <NewTasksButton fresh={fresh} gone={gone.size} release={release} />
      <Box component="ul" className={list.list} h={rows.getTotalSize()}>
        {rows.getVirtualItems().map((item) => {
          const branch = entries[item.index];
          return branch ? (
            <Box
              component="li" key={item.key} ref={rows.measureElement} data-index={item.index} className={list.item}
              aria-setsize={entries.length} aria-posinset={item.index + 1} style={{ transform: `translateY(${item.start - offset}px)` }}
            >
              <Row branch={branch} folded={folded.has(branch.task.id)} onFold={fold} gone={gone.has(branch.task.id)} now={now} />
            </Box>
          ) : null;
        })}
      </Box>
    </div>
  );
}

function Row({ branch, folded, onFold, gone, now }: { branch: TreeRow; folded: boolean; onFold: (id: string) => void; gone: boolean; now: number }) {
  const text = useTaskText();
  const { task, level, children, elsewhere } = branch;
  return (
    <Group gap={4} wrap="nowrap" align="flex-start" className={classes.row} data-level={Math.min(level, 8)}>
      <Box className={classes.fold}>
        {children > 0 && (
          <ActionIcon variant="subtle" color="gray" aria-expanded={!folded} aria-label={folded ? text.unfold(task.title) : text.fold(task.title)} onClick={() => onFold(task.id)}>
            <span className={folded ? classes.closed : classes.opened} aria-hidden>▾</span>
          </ActionIcon>
        )}
      </Box>
      <Box flex={1} miw={0}>
        {elsewhere && task.parent_id && (
          <Text size="xs">
            <Link to="/tasks/$id" params={{ id: task.parent_id }}>{text.partOf}</Link>
          </Text>
        )}
        <TaskCard task={task} gone={gone} now={now} />
      </Box>
    </Group>
  );
}
