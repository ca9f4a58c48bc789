import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Rows.module.css';

/** A list of things, each with its actions. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  return <ul className={classes.rows} aria-label={label}>{children}</ul>;
}

interface RowProps {
  name: ReactNode;
  badges?: ReactNode;
  /** Lines below the name. */
  children?: ReactNode;
  actions?: ReactNode;
  /** Whether the entry is not in use, such as a disabled person. */
  inactive?: boolean;
}

export function Row({ name, badges, children, actions, inactive }: RowProps) {
  return (
    <li className={`${classes.row} ${inactive ? classes.over : ''}`}>
      <div className={classes.what}>
        <Group gap="xs">
          <Text fw={600} className={classes.name} component="span">{name}</Text>
          {badges}
        </Group>
        {children && <Text size="sm" c="dimmed" component="div">{children}</Text>}
      </div>
      {actions && <Group gap="xs">{actions}</Group>}
    </li>
  );
}
