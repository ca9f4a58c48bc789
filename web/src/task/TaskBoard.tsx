import { SegmentedControl, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { taskCountsQuery, type TaskCounts } from './api';
import classes from './board.module.css';
import { BoardColumn } from './BoardColumn';
import { columns, statesIn, type Column, type Filters } from './filters';
import { focusedTask, focusTask } from './focus';
import { useTaskText } from './text';
import { useTaskKeys } from './useTaskKeys';

interface Props {
  filters: Filters;
  /** The column that a narrow screen shows. */
  column?: Column;
  onColumn: (column: Column) => void;
}

const none: readonly string[] = [];

/** Shows the tasks in columns: a column says who must act next. A narrow screen shows one column at a time. */
export function TaskBoard({ filters, column, onColumn }: Props) {
  const text = useTaskText();
  const wide = useMediaQuery('(min-width: 68em)', undefined, { getInitialValueInEffect: false });
  const { data: counts } = useQuery(taskCountsQuery(filters));
  const [ids, setIds] = useState<Partial<Record<Column, readonly string[]>>>({});
  const tell = useCallback((name: Column, list: readonly string[]) => setIds((now) => ({ ...now, [name]: list })), []);
  const open = column ?? fullestColumn(counts);
  /** Returns the column of the task that has the focus, or else the first column to look at. */
  const focusedColumn = () => columns.find((name) => ids[name]?.includes(focusedTask() ?? '')) ?? (wide ? firstFilled(ids) : open);
  useTaskKeys({
    ids: () => ids[focusedColumn()] ?? none,
    go: focusTask,
    moveColumn: (by) => {
      const from = focusedColumn();
      const to = columns[columns.indexOf(from) + by];
      if (!to) return;
      if (!wide) onColumn(to);
      const place = Math.max(0, (ids[from] ?? none).indexOf(focusedTask() ?? ''));
      const list = ids[to] ?? none;
      const id = list[Math.min(place, list.length - 1)];
      if (id) focusTask(id);
    },
  });
  const name = (each: Column) => `${text.columns[each]} ${counts?.columns[each] ?? ''}`.trim();
  const shown = wide ? columns : [open];
  return (
    <>
      {!wide && (
        <SegmentedControl
          fullWidth
          size="xs"
          mb="sm"
          value={open}
          onChange={(value) => onColumn(value)}
          data={columns.map((each) => ({ value: each, label: name(each) }))}
          className={classes.columns}
          aria-label={text.views.board}
        />
      )}
      <div className={classes.board}>
        {shown.map((each) => {
          const states = statesIn(each, filters);
          return (
            <section key={each} className={classes.column} aria-label={text.columns[each]}>
              <h2 className={classes.heading}>
                {text.columns[each]} <span className={classes.count}>{counts?.columns[each] ?? ''}</span>
                <VisuallyHidden> {text.tasks}</VisuallyHidden>
              </h2>
              <BoardColumn column={each} filters={filters} states={states} onIds={tell} />
            </section>
          );
        })}
      </div>
    </>
  );
}

/** Returns the first column that has tasks: first those that need a person, then those in progress, ready and done. */
function fullestColumn(counts: TaskCounts | undefined): Column {
  return (['needs_person', 'working', 'ready', 'done'] as const).find((column) => (counts?.columns[column] ?? 0) > 0) ?? 'ready';
}

const firstFilled = (ids: Partial<Record<Column, readonly string[]>>) => columns.find((name) => (ids[name]?.length ?? 0) > 0) ?? 'ready';
