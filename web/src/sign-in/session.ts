import { api, need } from '@/api/client';
import { queryClient, startAnew, whoamiQuery } from '@/api/queries';
import type { Whoami } from '@/api/types';
import { own } from '@/offline/kept';

// All tabs of a browser share its session: one tells the others when it begins
// and when it ends.

type Told = 'in' | 'out';

/** What becomes of answers that were not sent: they wait here for the one who gave them, or are thrown away. */
export type Unsent = 'keep' | 'discard';

type Ending = (unsent: Unsent) => void | Promise<void>;
const channel = 'BroadcastChannel' in window ? new BroadcastChannel('fermata-session') : undefined;
const listeners = new Set<(told: Told) => void>();
const endings = new Set<Ending>();

if (channel) channel.onmessage = (message: MessageEvent<Told>) => listeners.forEach((listener) => listener(message.data));

/** Hears that another tab signed in or out. */
export function onSession(listener: (told: Told) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Does something when the person was signed out: forgets what was kept for him. */
export function onSignOut(ending: Ending): () => void {
  endings.add(ending);
  return () => endings.delete(ending);
}

/**
 * A session has begun in this browser. False says that it is somebody else's
 * than before: what is on the page is not for him, and another one is loaded,
 * at the path or at the same address.
 */
export function signedIn(me: Whoami, path?: string): boolean {
  channel?.postMessage('in' satisfies Told);
  if (!own(me.name)) {
    void startAnew(path);
    return false;
  }
  queryClient.setQueryData(whoamiQuery.queryKey, me);
  void queryClient.invalidateQueries();
  return true;
}

const providerKey = 'fermata-provider-sign-out';

/** Where the identity provider's own session ends, after a sign-out in this tab. */
export const providerSignOut = (): string | undefined => sessionStorage.getItem(providerKey) ?? undefined;

/** Forgets the address: it is offered once. */
export const forgetProviderSignOut = (): void => sessionStorage.removeItem(providerKey);

/** Ends the session of this browser and leaves nothing of it on the page, nor in the browser. */
export async function signOut(unsent: Unsent): Promise<void> {
  const { provider_url: provider } = await need(api.POST('/v1/sign-out'));
  for (const ending of endings) await ending(unsent);
  if (provider) sessionStorage.setItem(providerKey, provider);
  channel?.postMessage('out' satisfies Told);
  location.assign('/sign-in');
}
