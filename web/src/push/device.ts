import { api, need } from '@/api/client';
import { asProblem } from '@/api/problem';

// This browser as a device that gets messages while no page is open. Its id is
// kept in a cache, because the service worker can read that (service-worker/device.ts).

const shelf = 'fermata-device';
const place = '/fermata-device';

export interface Kept {
  id: string;
  name: string;
  /** The member who added the device. Another person may use the browser by now. */
  member: string;
}

export type PushState = 'unsupported' | 'install' | 'denied' | 'off' | 'on';

const isApplePhone = /iPhone|iPad/.test(navigator.userAgent);

/** Returns whether this browser can get messages, and whether it does. */
export async function pushState(member: string): Promise<{ state: PushState; device?: Kept }> {
  if (!isSecureContext || !('serviceWorker' in navigator) || !('PushManager' in window) || !('Notification' in window)) {
    return { state: isApplePhone && isSecureContext ? 'install' : 'unsupported' };
  }
  if (Notification.permission === 'denied') return { state: 'denied' };
  const kept = await keptDevice();
  if (!kept || kept.member !== member || Notification.permission !== 'granted') return { state: 'off' };
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  return subscription ? { state: 'on', device: kept } : { state: 'off' };
}

/** Asks the person for permission, subscribes and tells the server. Call it only after a press of a button. */
export async function addDevice(name: string, member: string): Promise<'added' | 'denied'> {
  if ((await Notification.requestPermission()) !== 'granted') return 'denied';
  await register(await subscribe(), name, member);
  return 'added';
}

/** Removes this browser from the devices that get messages. */
export async function removeDevice(): Promise<void> {
  const kept = await keptDevice();
  await unsubscribe();
  if (kept) await forgetAtServer(kept.id);
}

/** Removes one of the reader's devices, which may be this browser. */
export async function removeAny(id: string): Promise<void> {
  if ((await keptDevice())?.id === id) await removeDevice();
  else await forgetAtServer(id);
}

/**
 * Brings this browser and the server into agreement. A subscription that ended
 * or was made with another key is made anew. A subscription of another person
 * is ended. So is a subscription whose device the server has removed, because
 * its sign-in ended or a person removed it.
 */
export async function renewDevice(member: string): Promise<void> {
  const kept = await keptDevice();
  if (!kept || !('serviceWorker' in navigator)) return;
  if (kept.member !== member) return unsubscribe();
  if (Notification.permission !== 'granted') return;
  const before = await (await navigator.serviceWorker.ready).pushManager.getSubscription();
  const now = await subscribe();
  const changed = before?.endpoint !== now.endpoint;
  if (changed) {
    await register(now, kept.name, member);
    await forgetAtServer(kept.id);
  } else if (!(await isKnown(kept.id))) await unsubscribe();
}

/** Reports whether the server still pushes to the device. */
async function isKnown(id: string): Promise<boolean> {
  const { items } = await need(api.GET('/v1/me/devices'));
  return items.some((device) => device.id === id);
}

/** Ends the subscription. After that, no message reaches this browser. */
export async function unsubscribe(): Promise<void> {
  await caches.delete(shelf);
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

async function register(subscription: PushSubscription, name: string, member: string): Promise<void> {
  const { endpoint, keys } = subscription.toJSON();
  const device = await need(api.POST('/v1/me/devices', { body: { name, subscription: { endpoint: endpoint ?? '', keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' } } } }));
  await (await caches.open(shelf)).put(place, Response.json({ id: device.id, name, member } satisfies Kept));
}

async function subscribe(): Promise<PushSubscription> {
  const { key } = await need(api.GET('/v1/push/key'));
  const { pushManager } = await navigator.serviceWorker.ready;
  const old = await pushManager.getSubscription();
  if (old && !madeWith(old, key)) await old.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

/** Reports whether a subscription was made with the server's current key. */
function madeWith({ options: { applicationServerKey } }: PushSubscription, key: string): boolean {
  if (!applicationServerKey) return true;
  const bytes = String.fromCharCode(...new Uint8Array(applicationServerKey));
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') === key;
}

/** Removes a device on the server. The server may have removed it already, because its subscription ended. */
async function forgetAtServer(id: string): Promise<void> {
  await need(api.DELETE('/v1/me/devices/{id}', { params: { path: { id } } })).catch((error: unknown) => {
    if (asProblem(error).code !== 'not_found') throw error;
  });
}

async function keptDevice(): Promise<Kept | undefined> {
  if (!('caches' in window) || !(await caches.has(shelf))) return undefined;
  const found = await (await caches.open(shelf)).match(place);
  return (await found?.json()) as Kept | undefined;
}
