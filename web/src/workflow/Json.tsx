import { Text } from '@mantine/core';
import { useState } from 'react';
import { Code } from '@/preview/Code';
import classes from './Workflow.module.css';

/** A value of a step, folded until somebody wants to see it. */
export function Json({ label, value, open = false, plain }: { label: string; value: unknown; open?: boolean; plain?: boolean }) {
  const [shown, setShown] = useState(open);
  if (value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)) return null;
  const written = JSON.stringify(value, null, 2);
  return (
    <details className={classes.json} open={open} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary><Text span size="sm">{label}</Text>{!shown && !plain && <Text span size="xs" c="dimmed" className={classes.short} aria-hidden>{JSON.stringify(value).slice(0, 120)}</Text>}</summary>
      {shown && <div className={classes.value}><Code text={typeof value === 'string' ? value : written} label={label} /></div>}
    </details>
  );
}
