import { api, unwrap } from '@/api/client';
import { asProblem } from '@/api/problem';

// This browser as a device that gets messages while no page is open. Its id is
// kept in a cache, because the service worker can read that (service-worker/device.ts).

const cacheName = 'fermata-device';
const cachePath = '/fermata-device';

export interface StoredDevice {
  id: string;
  name: string;
  /** The member who added the device. Another person may use the browser by now. */
  member: string;
}

export type PushState = 'unsupported' | 'install' | 'denied' | 'off' | 'on';

const isApplePhone = /iPhone|iPad/.test(navigator.userAgent);

/** Returns whether this browser can get messages, and whether it does. */
export async function pushState(member: string): Promise<{ state: PushState; device?: StoredDevice }> {
  if (!isSecureContext || !('serviceWorker' in navigator) || !('PushManager' in window) || !('Notification' in window)) {
    return { state: isApplePhone && isSecureContext ? 'install' : 'unsupported' };
  }
  if (Notification.permission === 'denied') return { state: 'denied' };
  const kept = await readStoredDevice();
  if (!kept || kept.member !== member || Notification.permission !== 'granted') return { state: 'off' };
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  return subscription ? { state: 'on', device: kept } : { state: 'off' };
}

/**
 * Asks the person for permission, subscribes and registers the device at the server. Call it only after a press of a
 * button.
 */
export async function addDevice(name: string, member: string): Promise<'added' | 'denied'> {
  if ((await Notification.requestPermission()) !== 'granted') return 'denied';
  await register(await subscribe(), name, member);
  return 'added';
}

/** Removes this browser from the devices that get messages. */
export async function removeThisDevice(): Promise<void> {
  const kept = await readStoredDevice();
  await unsubscribe();
  if (kept) await deleteAtServer(kept.id);
}

/** Removes one of the reader's devices, which may be this browser. */
export async function removeDevice(id: string): Promise<void> {
  if ((await readStoredDevice())?.id === id) await removeThisDevice();
  else await deleteAtServer(id);
}

/**
 * Makes the subscription of this browser agree with the server. A subscription
 * that ended or has another key is replaced. A subscription of another person
 * is ended. So is a subscription whose device the server has removed, because
 * its sign-in ended or a person removed it.
 */
export async function renewDevice(member: string): Promise<void> {
  const kept = await readStoredDevice();
  if (!kept || !('serviceWorker' in navigator)) return;
  if (kept.member !== member) return unsubscribe();
  if (Notification.permission !== 'granted') return;
  const before = await (await navigator.serviceWorker.ready).pushManager.getSubscription();
  const now = await subscribe();
  const changed = before?.endpoint !== now.endpoint;
  if (changed) {
    await register(now, kept.name, member);
    await deleteAtServer(kept.id);
  } else if (!(await isKnown(kept.id))) await unsubscribe();
}

/** Reports whether the server still pushes to the device. */
async function isKnown(id: string): Promise<boolean> {
  const { items } = await unwrap(api.GET('/v1/me/devices'));
  return items.some((device) => device.id === id);
}

/** Ends the subscription. After that, no message reaches this browser. */
export async function unsubscribe(): Promise<void> {
  await caches.delete(cacheName);
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

async function register(subscription: PushSubscription, name: string, member: string): Promise<void> {
  const { endpoint, keys } = subscription.toJSON();
  const device = await unwrap(api.POST('/v1/me/devices', { body: { name, subscription: { endpoint: endpoint ?? '', keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' } } } }));
  await (await caches.open(cacheName)).put(cachePath, Response.json({ id: device.id, name, member } satisfies StoredDevice));
}

async function subscribe(): Promise<PushSubscription> {
  const { key } = await unwrap(api.GET('/v1/push/key'));
  const { pushManager } = await navigator.serviceWorker.ready;
  const old = await pushManager.getSubscription();
  if (old && !isMadeWith(old, key)) await old.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

/** Reports whether a subscription was created with the server's current key. */
function isMadeWith({ options: { applicationServerKey } }: PushSubscription, key: string): boolean {
  if (!applicationServerKey) return true;
  const bytes = String.fromCharCode(...new Uint8Array(applicationServerKey));
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') === key;
}

/** Removes a device on the server. The server may have removed it already, because its subscription ended. */
async function deleteAtServer(id: string): Promise<void> {
  await unwrap(api.DELETE('/v1/me/devices/{id}', { params: { path: { id } } })).catch((error: unknown) => {
    if (asProblem(error).code !== 'not_found') throw error;
  });
}

async function readStoredDevice(): Promise<StoredDevice | undefined> {
  if (!('caches' in window) || !(await caches.has(cacheName))) return undefined;
  const found = await (await caches.open(cacheName)).match(cachePath);
  return (await found?.json()) as StoredDevice | undefined;
}
