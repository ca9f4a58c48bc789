import { useEffect } from 'react';
import { useCounts } from '@/inbox/useInbox';
import { setWaiting } from './title';

/** How many questions wait: in the title, the icon and the badge of the app. */
export function Unread() {
  const { data } = useCounts();
  const n = data?.pending;
  useEffect(() => {
    if (n === undefined) return;
    setWaiting(n);
    document.title = document.title.replace(/^(\(\d+\) )?/, n > 0 ? `(${n}) ` : '');
    void mark(n);
  }, [n]);
  return null;
}

/** The app's badge where the system has one, and a dot on the tab's icon. */
async function mark(n: number): Promise<void> {
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (icon) icon.href = n > 0 ? '/icon-waiting.svg' : '/icon.svg';
  try {
    await (n > 0 ? navigator.setAppBadge(n) : navigator.clearAppBadge());
  } catch {
    // Not every system has badges.
  }
}
