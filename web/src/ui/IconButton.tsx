import type { ComponentPropsWithRef } from 'react';
import hiddenClasses from './Hidden.module.css';
import classes from './IconButton.module.css';
import { Icon, type IconName } from './Icon';
import { KeyCap } from './KeyCap';

interface Props extends ComponentPropsWithRef<'button'> {
  icon: IconName;
  /** What the button does. The pointer and screen readers get it. */
  label: string;
  /** The key that presses the button. */
  keys?: string;
}

/** A quiet button with a sign and its key, for what is done now and then. */
export function IconButton({ icon, label, keys, ...rest }: Props) {
  return (
    <button type="button" className={classes.button} title={label} {...rest}>
      <span className={hiddenClasses.hidden}>{label}</span>
      <Icon name={icon} size={16} />{keys && <KeyCap>{keys}</KeyCap>}
    </button>
  );
}
