import { Button } from '@mantine/core';
import classes from './list.module.css';
import { useTaskText } from './text';

/** What came while somebody read: it is shown when he asks for it. */
export function Fresh({ fresh, gone, release }: { fresh: number; gone: number; release: () => void }) {
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
