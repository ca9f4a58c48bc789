import { queryClient, whoamiQuery } from '@/api/queries';
import { onSignOut } from '@/sign-in/session';

const cacheName = 'fermata-device';

/** Keeps up the subscription of this browser, but only for the person who signed in. */
export function startPush(): void {
  if (!('caches' in window)) return;
  const loadDevice = async () => ((await caches.has(cacheName)) ? import('./device') : undefined);
  onSignOut(async () => (await loadDevice())?.unsubscribe());
  void loadDevice()
    .then(async (found) => found?.renewDevice((await queryClient.query(whoamiQuery)).member_id ?? ''))
    // The next page tries again.
    .catch(() => undefined);
}
