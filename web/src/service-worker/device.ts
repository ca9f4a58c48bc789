// Keeps the browser's subscription and the server's list of devices in
// agreement. The page stored its data about this device in a cache, because a
// worker can read that.

const worker = globalThis as unknown as ServiceWorkerGlobalScope;
const cacheName = 'fermata-device';
const cachePath = '/fermata-device';

interface StoredDevice {
  id: string;
  name: string;
  member: string;
}

/** Reports the new subscription to the server after the browser changed it. */
export async function renewSubscription(fresh?: PushSubscription | null): Promise<void> {
  const kept = await readStoredDevice();
  // Without the stored data, push is off in this browser, and only the page can turn it on again.
  if (!kept) return;
  // If another person is signed in by now, the page ends the subscription.
  const me = await callApi<{ member_id?: string }>('GET', '/v1/whoami');
  if (me.member_id !== kept.member) return;
  const subscription = fresh ?? (await subscribe());
  const added = await callApi<{ id: string }>('POST', '/v1/me/devices', { subscription, name: kept.name });
  await (await caches.open(cacheName)).put(cachePath, Response.json({ ...kept, id: added.id }));
  if (added.id !== kept.id) await callApi('DELETE', `/v1/me/devices/${encodeURIComponent(kept.id)}`).catch(() => undefined);
}

async function readStoredDevice(): Promise<StoredDevice | undefined> {
  const found = await (await caches.open(cacheName)).match(cachePath);
  return (await found?.json()) as StoredDevice | undefined;
}

async function subscribe(): Promise<PushSubscription> {
  const { key } = await callApi<{ key: string }>('GET', '/v1/push/key');
  return worker.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

async function callApi<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers = body ? { 'Content-Type': 'application/json' } : undefined;
  const reply = await fetch(path, { method, credentials: 'same-origin', headers, body: body ? JSON.stringify(body) : undefined });
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status}`);
  return (reply.status === 204 ? undefined : await reply.json()) as T;
}
