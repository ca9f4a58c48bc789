import { Box } from '@mantine/core';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { useNow } from '@/ui/useNow';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import type { Filters } from './filters';
import { NewTasksButton } from './NewTasksButton';
import { focusTask } from './focus';
import classes from './list.module.css';
import { NoTasks } from './NoTasks';
import { coarseTime, TaskCard } from './TaskCard';
import { useIsBeingRead } from '@/ui/useIsBeingRead';
import { useTaskKeys } from './useTaskKeys';
import { useTasks } from './useTasks';
import { useOffset } from './useOffset';

/** Shows all tasks one below the other. Only the visible ones are rendered. */
export function TaskList({ filters }: { filters: Filters }) {
  const box = useRef<HTMLDivElement>(null);
  const [isBeingRead, release] = useIsBeingRead(box);
  const { shown, gone, fresh, query } = useTasks(filters, undefined, isBeingRead);
  const now = coarseTime(useNow());
  const offset = useOffset(box, shown.length > 0);
  const rows = useWindowVirtualizer({
    count: shown.length,
    estimateSize: () => 76,
    gap: 8,
    overscan: 8,
    scrollMargin: offset,
    scrollPaddingStart: 64,
    getItemKey: (at) => shown[at]?.id ?? at,
  });
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  useEffect(() => {
    if (last >= shown.length - 10 && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [last, shown.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  useTaskKeys({
    ids: () => shown.map((task) => task.id),
    go: (id, at) => {
      rows.scrollToIndex(at, { align: 'auto' });
      focusTask(id);
    },
  });
  return (
    <div ref={box}>
      {query.error && <ErrorAlert error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading />}
      {query.isSuccess && shown.length === 0 && <NoTasks filters={filters} />}
      <NewTasksButton fresh={fresh} gone={gone.size} release={release} />
      <Box component="ul" className={classes.list} h={rows.getTotalSize()}>
        {items.map((item) => {
          const task = shown[item.index];
          return task ? (
            <Box
              component="li"
              key={item.key}
              ref={rows.measureElement}
              data-index={item.index}
              aria-setsize={hasNextPage ? -1 : shown.length}
              aria-posinset={item.index + 1}
              className={classes.item}
              style={{ transform: `translateY(${item.start - offset}px)` }}
            >
              <TaskCard task={task} gone={gone.has(task.id)} now={now} />
            </Box>
          ) : null;
        })}
      </Box>
    </div>
  );
}
