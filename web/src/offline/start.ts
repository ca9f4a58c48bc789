import { onSignOut } from '@/sign-in/session';
import { deleteDrafts } from './owner';
import { deleteStoredInbox } from './storedInbox';

/**
 * Registers the service worker, so that the page opens without a network. It also deletes the stored inbox and the
 * drafts at each sign-out.
 */
export function startOffline(): void {
  onSignOut(deleteStoredInbox);
  onSignOut(deleteDrafts);
  if (!('serviceWorker' in navigator) || import.meta.env.DEV) return;
  // The page works without the service worker, so a failure is ignored.
  navigator.serviceWorker.register('/sw.js', { scope: '/' }).catch(() => undefined);
}
