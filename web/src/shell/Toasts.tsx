import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';

/** Shows short notices. It is loaded separately, so the first page does not wait for it. */
export default function Toasts() {
  return <Notifications position="bottom-center" />;
}
