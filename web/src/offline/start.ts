import { onSignOut } from '@/sign-in/session';
import { deleteDrafts } from './owner';
import { deleteStoredInbox } from './storedInbox';

/** Lets the page open without a network, if the browser supports it. */
export function startOffline(): void {
  onSignOut(deleteStoredInbox);
  onSignOut(deleteDrafts);
  if (!('serviceWorker' in navigator) || import.meta.env.DEV) return;
  // The page works without the service worker, so a failure is ignored.
  navigator.serviceWorker.register('/sw.js', { scope: '/' }).catch(() => undefined);
}
