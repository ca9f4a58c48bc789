import { useState, type ReactNode } from 'react';
import classes from './OpeningRow.module.css';

/** A list of rows, each of which opens. */
export const openingRows = classes.list;

/** A row that tells more when it is pressed; what it then tells is made only there. */
export function OpeningRow({ summary, children }: { summary: ReactNode; children: () => ReactNode }) {
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
