import { queryClient, whoamiQuery } from '@/api/queries';
import { onSignOut } from '@/sign-in/session';

const shelf = 'fermata-device';

/** Keeps up the subscription of this browser, but only for the person who signed in. */
export function startPush(): void {
  if (!('caches' in window)) return;
  const device = async () => ((await caches.has(shelf)) ? import('./device') : undefined);
  onSignOut(async () => (await device())?.unsubscribe());
  void device()
    .then(async (found) => found?.renewDevice((await queryClient.query(whoamiQuery)).member_id ?? ''))
    // The next page tries again.
    .catch(() => undefined);
}
