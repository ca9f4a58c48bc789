import { Text } from '@mantine/core';
import { memo, useState } from 'react';
import { Code } from '@/preview/Code';
import { partsOf } from './parts';
import classes from './Workflow.module.css';

/**
 * Shows a value of a step, folded until the reader opens it. The value may be large, so it is rendered when it changes,
 * and not every second.
 */
export const Json = memo(function Json({ label, value, open = false, plain }: { label: string; value: unknown; open?: boolean; plain?: boolean }) {
  const [shown, setShown] = useState(open);
  if (value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)) return null;
  return (
    <details className={classes.json} open={open} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary><Text span size="sm">{label}</Text>{!shown && !plain && <Text span size="xs" c="dimmed" className={classes.short} aria-hidden>{JSON.stringify(value).slice(0, 120)}</Text>}</summary>
      {shown && <div className={classes.value}>{partsOf(value).map(({ name, text }) => <Part key={name} label={name ? `${label}: ${name}` : label} name={name} text={text} />)}</div>}
    </details>
  );
});

function Part({ label, name, text }: { label: string; name: string; text: string }) {
  return <>{name && <Text size="xs" c="dimmed" mt={6} mb={2} ff="monospace">{name}</Text>}<Code text={text} label={label} /></>;
}
