// The browser's subscription and the server's list of devices stay one. What
// the page kept about this device is in a cache, which a worker can read.

const worker = globalThis as unknown as ServiceWorkerGlobalScope;
const shelf = 'fermata-device';
const place = '/fermata-device';

interface Kept {
  id: string;
  name: string;
  member: string;
}

/** The browser has changed its subscription: the server hears of the new one. */
export async function renew(fresh?: PushSubscription | null): Promise<void> {
  const kept = await keptDevice();
  // The page subscribes anew where nothing is known.
  if (!kept) return;
  // So does the page where another person is signed in by now: it ends the subscription.
  const me = await call<{ member_id?: string }>('GET', '/v1/whoami');
  if (me.member_id !== kept.member) return;
  const subscription = fresh ?? (await subscribe());
  const added = await call<{ id: string }>('POST', '/v1/me/devices', { subscription, name: kept.name });
  await (await caches.open(shelf)).put(place, Response.json({ ...kept, id: added.id }));
  if (added.id !== kept.id) await call('DELETE', `/v1/me/devices/${encodeURIComponent(kept.id)}`).catch(() => undefined);
}

async function keptDevice(): Promise<Kept | undefined> {
  const found = await (await caches.open(shelf)).match(place);
  return (await found?.json()) as Kept | undefined;
}

async function subscribe(): Promise<PushSubscription> {
  const { key } = await call<{ key: string }>('GET', '/v1/push/key');
  return worker.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers = body ? { 'Content-Type': 'application/json' } : undefined;
  const reply = await fetch(path, { method, credentials: 'same-origin', headers, body: body ? JSON.stringify(body) : undefined });
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status}`);
  return (reply.status === 204 ? undefined : await reply.json()) as T;
}
