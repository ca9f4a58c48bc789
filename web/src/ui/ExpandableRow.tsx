import { useState, type ReactNode } from 'react';
import classes from './ExpandableRow.module.css';

/** The style for a list of rows that open. */
export const expandableRows = classes.list;

/** A row that opens when it is pressed. Its details are rendered only while it is open. */
export function ExpandableRow({ summary, children }: { summary: ReactNode; children: () => ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <li className={classes.row}>
      <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
        <summary>{summary}</summary>
        {open && <div className={classes.details}>{children()}</div>}
      </details>
    </li>
  );
}
