import { useKeysAwake } from '@/keys/useCommands';
import { usePreference } from '@/shell/preferences';
import classes from './KeyCap.module.css';

/** Shows the key that presses a button. It shows nothing while the key does nothing. */
export function KeyCap({ children }: { children: string | number }) {
  const awake = useKeysAwake();
  const [keys] = usePreference('keys');
  return awake && keys ? <kbd className={classes.key} aria-hidden>{children}</kbd> : null;
}
