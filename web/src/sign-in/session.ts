import { api, unwrap } from '@/api/client';
import { queryClient, leavePage, whoamiQuery } from '@/api/queries';
import { signal } from '@/api/signal';
import type { Whoami } from '@/api/types';
import { recordOwner } from '@/offline/owner';

// All tabs of a browser share one session. A tab tells the others when the
// session begins and when it ends.

type SessionMessage = 'in' | 'out';

/** The choice for unsent answers: they wait here for their author, or they are deleted. */
export type UnsentChoice = 'keep' | 'discard';

type SignOutHandler = (unsent: UnsentChoice) => void | Promise<void>;
const channel = 'BroadcastChannel' in window ? new BroadcastChannel('fermata-session') : undefined;
const messages = signal<[told: SessionMessage]>();
const signOutHandlers = new Set<SignOutHandler>();

if (channel) channel.onmessage = (message: MessageEvent<SessionMessage>) => messages.notify(message.data);

/** Calls the listener when another tab signed in or out. */
export const message = messages.subscribe;

/** Runs a function after each sign-out, to delete what was stored for the person. */
export function onSignOut(handler: SignOutHandler): () => void {
  signOutHandlers.add(handler);
  return () => signOutHandlers.delete(handler);
}

/**
 * Records that a session has begun in this browser. Returns false if the page
 * belonged to another person. The new person must not see the content of the
 * page, so `path`, or the same address, is loaded again.
 */
export function recordSignIn(me: Whoami, path?: string): boolean {
  channel?.postMessage('in' satisfies SessionMessage);
  if (!recordOwner(me.name)) {
    void leavePage(path);
    return false;
  }
  queryClient.setQueryData(whoamiQuery.queryKey, me);
  void queryClient.invalidateQueries();
  return true;
}

const providerKey = 'fermata-provider-sign-out';

/** Returns the address that ends the session at the identity provider, after a sign-out in this tab. */
export const providerSignOut = (): string | undefined => sessionStorage.getItem(providerKey) ?? undefined;

/** Deletes the address, because the page offers it only once. */
export const forgetProviderSignOut = (): void => sessionStorage.removeItem(providerKey);

/** Ends the session of this browser and deletes its data from the page and from the browser. */
export async function signOut(unsent: UnsentChoice): Promise<void> {
  const { provider_url: provider } = await unwrap(api.POST('/v1/sign-out'));
  for (const handle of signOutHandlers) await handle(unsent);
  if (provider) sessionStorage.setItem(providerKey, provider);
  channel?.postMessage('out' satisfies SessionMessage);
  location.assign('/sign-in');
}
