import { Button } from '@mantine/core';
import classes from './IconButton.module.css';
import { Icon, type IconName } from './Icon';
import { KeyCap } from './KeyCap';

interface Props {
  icon: IconName;
  /** What the button does. The pointer and screen readers get it. */
  label: string;
  /** The key that presses the button. */
  keys?: string;
  size?: 'md' | 'compact-md';
  disabled?: boolean;
  onClick?: () => void;
}

/** A quiet button with a sign and its key, for what is done now and then. */
export function IconButton({ icon, label, keys, size = 'md', ...rest }: Props) {
  return (
    <Button variant="subtle" color="gray" size={size} className={classes.button} aria-label={label} title={label} {...rest}>
      <Icon name={icon} size={16} />{keys && <KeyCap>{keys}</KeyCap>}
    </Button>
  );
}
