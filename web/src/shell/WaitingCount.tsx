import { useEffect } from 'react';
import { useCounts } from '@/inbox/useInbox';
import { setWaiting } from './title';

/** Shows how many questions wait: in the title, the icon and the badge of the app. */
export function WaitingCount() {
  const { data } = useCounts();
  const n = data?.pending;
  useEffect(() => {
    if (n === undefined) return;
    setWaiting(n);
    document.title = document.title.replace(/^(\(\d+\) )?/, n > 0 ? `(${n}) ` : '');
    void setBadge(n);
  }, [n]);
  return null;
}

/** Sets the badge of the app, if the system has badges, and the dot on the icon of the tab. */
async function setBadge(n: number): Promise<void> {
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (icon) icon.href = n > 0 ? '/icon-waiting.svg' : '/icon.svg';
  try {
    await (n > 0 ? navigator.setAppBadge(n) : navigator.clearAppBadge());
  } catch {
    // Not every system has badges.
  }
}
