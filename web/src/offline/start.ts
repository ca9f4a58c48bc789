import { onSignOut } from '@/sign-in/session';
import { forgetBegun } from './kept';
import { forgetInbox } from './last';

/** Lets the page open without a network, if the browser supports it. */
export function startOffline(): void {
  onSignOut(forgetInbox);
  onSignOut(forgetBegun);
  if (!('serviceWorker' in navigator) || import.meta.env.DEV) return;
  // The page works without the service worker, so a failure is ignored.
  navigator.serviceWorker.register('/sw.js', { scope: '/' }).catch(() => undefined);
}
