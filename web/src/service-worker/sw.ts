import { renewSubscription } from './device';
import { readMessage } from './message';
import { handlePress } from './press';
import { showPushed } from './show';

// The service worker caches the shell: the page and the files that it names. It
// never answers calls of the API from the cache. It shows the messages that the
// server pushes while no page is open.

const worker = globalThis as unknown as ServiceWorkerGlobalScope;
const shellCache = 'fermata-shell-2';
const ownCaches = [shellCache, 'fermata-device'];

worker.addEventListener('install', (event) => {
  event.waitUntil(caches.open(shellCache).then((cache) => cache.add('/')).then(() => worker.skipWaiting()));
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(deleteOtherCaches().then(() => worker.clients.claim()));
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== worker.location.origin) return;
  // The worker handles neither the pages of answer links nor calls of the API.
  if (/^\/(a|v1)\//.test(url.pathname)) return;
  if (request.mode === 'navigate') event.respondWith(fetchPage(request));
  else if (url.pathname.startsWith('/assets/') || /^\/(icon|scheme|manifest)/.test(url.pathname)) event.respondWith(fetchFile(request));
});

// Messages are handled one after the other. The message that closes a question must find the notification about that
// question.
let lastPush: Promise<unknown> = Promise.resolve();
worker.addEventListener('push', (event) => {
  const message = readMessage(event.data);
  const shown = lastPush.then(() => showPushed(message));
  lastPush = shown.catch(() => undefined);
  event.waitUntil(shown);
});

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(handlePress(event.notification.data, event.action));
});

worker.addEventListener('pushsubscriptionchange', (event) => {
  const { newSubscription } = event as ExtendableEvent & { newSubscription?: PushSubscription | null };
  (event as ExtendableEvent).waitUntil(renewSubscription(newSubscription));
});

/** Returns the page from the network, or else the cached one. */
async function fetchPage(request: Request): Promise<Response> {
  const cache = await caches.open(shellCache);
  try {
    const fresh = await fetch(request);
    if (isShell(fresh)) await cache.put('/', fresh.clone());
    return fresh;
  } catch {
    return (await cache.match('/')) ?? Response.error();
  }
}

/**
 * Reports whether a page is the shell. A page that the server marks as no-store
 * is not, such as that of an answer link.
 */
function isShell(fresh: Response): boolean {
  return fresh.ok && (fresh.headers.get('Content-Type') ?? '').startsWith('text/html') && !(fresh.headers.get('Cache-Control') ?? '').includes('no-store');
}

/**
 * Returns a file. A file with a hash in its name never changes, so it comes
 * from the cache first. The few others come from the network first.
 */
async function fetchFile(request: Request): Promise<Response> {
  const cache = await caches.open(shellCache);
  const kept = await cache.match(request);
  if (kept && new URL(request.url).pathname.startsWith('/assets/')) return kept;
  try {
    const fresh = await fetch(request);
    if (fresh.ok) await cache.put(request, fresh.clone());
    return fresh;
  } catch {
    return kept ?? Response.error();
  }
}

async function deleteOtherCaches(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => !ownCaches.includes(name)).map((name) => caches.delete(name)));
}
