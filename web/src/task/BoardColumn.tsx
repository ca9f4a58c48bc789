import { Box, Button, Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useNow } from '@/ui/useNow';
import { Loading } from '@/ui/Loading';
import classes from './board.module.css';
import type { Column, Filters, State } from './filters';
import list from './list.module.css';
import { coarseTime, TaskCard } from './TaskCard';
import { useTaskText } from './text';
import { useIsBeingRead } from '@/ui/useIsBeingRead';
import { useTasks } from './useTasks';

interface Props {
  column: Column;
  filters: Filters;
  /** The states of this column, or undefined if the filters leave none. */
  states: State[] | undefined;
  onIds: (column: Column, ids: readonly string[]) => void;
}

/** Shows one column of the board. The column scrolls by itself and renders only the visible cards. */
export function BoardColumn({ column, filters, states, onIds }: Props) {
  const text = useTaskText();
  return states ? <Cards column={column} filters={filters} states={states} onIds={onIds} /> : <Text size="sm" c="dimmed" p="xs">{text.emptyColumn}</Text>;
}

function Cards({ column, filters, states, onIds }: Props & { states: State[] }) {
  const text = useTaskText();
  const scroller = useRef<HTMLDivElement>(null);
  const [isBeingRead, release] = useIsBeingRead(scroller, { scrollsItself: true });
  const { shown, gone, fresh, query } = useTasks(filters, states, isBeingRead);
  const now = coarseTime(useNow());
  const ids = useMemo(() => shown.map((task) => task.id), [shown]);
  useEffect(() => onIds(column, ids), [column, ids, onIds]);
  // eslint-disable-next-line react-hooks/incompatible-library -- it tells React itself what changed
  const rows = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 112,
    gap: 8,
    overscan: 5,
    getItemKey: (at) => ids[at] ?? at,
  });
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  useEffect(() => {
    if (last >= shown.length - 8 && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [last, shown.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <>
      {query.error && <ErrorAlert error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading />}
      {query.isSuccess && shown.length === 0 && <Text size="sm" c="dimmed" p="xs">{text.emptyColumn}</Text>}
      <Box ref={scroller} className={classes.scroller} tabIndex={shown.length > 0 ? 0 : undefined} role="group" aria-label={text.columns[column]}>
        <div className={list.inColumn} role="status">
          {(fresh > 0 || gone.size > 0) && <Button size="compact-xs" onClick={release}>{fresh > 0 ? text.fresh(fresh) : text.freshChanges}</Button>}
        </div>
        <Box component="ul" className={list.list} h={rows.getTotalSize()}>
          {items.map((item) => {
            const task = shown[item.index];
            return task ? (
              <Box
                component="li" key={item.key} ref={rows.measureElement} data-index={item.index} className={list.item}
                aria-setsize={hasNextPage ? -1 : shown.length} aria-posinset={item.index + 1} style={{ transform: `translateY(${item.start}px)` }}
              >
                <TaskCard task={task} bare gone={gone.has(task.id)} now={now} />
              </Box>
            ) : null;
          })}
        </Box>
      </Box>
    </>
  );
}
