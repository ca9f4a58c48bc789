import { Button } from '@mantine/core';
import classes from './list.module.css';
import { useTaskText } from './text';

/** Shows that tasks came or went while the reader read the list. A press updates the list. */
export function NewTasksButton({ fresh, gone, release }: { fresh: number; gone: number; release: () => void }) {
  const text = useTaskText();
  return (
    <div className={classes.fresh} role="status">
      {(fresh > 0 || gone > 0) && (
        <Button size="compact-sm" onClick={release}>
          {fresh > 0 ? text.fresh(fresh) : text.freshChanges}
        </Button>
      )}
    </div>
  );
}
