import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';

/** Where short notices appear; nothing of the first page waits for it. */
export default function Toasts() {
  return <Notifications position="bottom-center" />;
}
