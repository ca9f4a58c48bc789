import { queryClient, whoamiQuery } from '@/api/queries';
import { onSignOut } from '@/sign-in/session';

const cacheName = 'fermata-device';

/**
 * Renews the push subscription of this browser if it belongs to the signed-in person. Otherwise, and at each sign-out,
 * it ends the subscription.
 */
export function startPush(): void {
  if (!('caches' in window)) return;
  const loadDevice = async () => ((await caches.has(cacheName)) ? import('./device') : undefined);
  onSignOut(async () => (await loadDevice())?.unsubscribe());
  void loadDevice()
    .then(async (found) => found?.renewDevice((await queryClient.query(whoamiQuery)).member_id ?? ''))
    // The next page tries again.
    .catch(() => undefined);
}
