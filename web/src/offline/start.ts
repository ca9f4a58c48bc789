import { onSignOut } from '@/sign-in/session';
import { forgetBegun } from './kept';
import { forgetInbox } from './last';

/** Lets the page open without a network, where the browser can. */
export function startOffline(): void {
  onSignOut(forgetInbox);
  onSignOut(forgetBegun);
  if (!('serviceWorker' in navigator) || import.meta.env.DEV) return;
  // The page works without it, so a refusal is nobody's concern.
  navigator.serviceWorker.register('/sw.js', { scope: '/' }).catch(() => undefined);
}
