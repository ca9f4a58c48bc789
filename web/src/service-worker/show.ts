import type { Message } from './message';

const worker = globalThis as unknown as ServiceWorkerGlobalScope;

/** The options that browsers support, but that TypeScript's types lack. */
interface Options extends NotificationOptions {
  actions?: { action: string; title: string }[];
  renotify?: boolean;
  timestamp?: number;
}

const maxActions = () => (Notification as { maxActions?: number }).maxActions ?? 0;

/** Shows a message. A newer message about the same question replaces the older one. */
export async function showMessage(message: Message, buttons: { action: string; title: string }[] = message.actions ?? []): Promise<void> {
  const options: Options = {
    body: message.body,
    tag: message.tag,
    icon: '/icon-192.png',
    lang: message.lang,
    data: message,
    silent: message.silent ?? false,
    renotify: message.again ?? false,
    requireInteraction: message.stays ?? false,
    // All buttons are shown, or none: one of two answers alone would not be a choice.
    actions: buttons.length <= maxActions() ? buttons.map(({ action, title }) => ({ action, title })) : [],
    ...(message.at > 0 ? { timestamp: message.at } : {}),
  };
  await worker.registration.showNotification(message.title, options);
}

/** Shows a message that was pushed. */
export async function showPushed(message: Message): Promise<void> {
  // A person who looks at the page sees there how the question ended.
  if (message.kind === 'closed' && (await isPageVisible())) await removeNotification(message.tag);
  else await showMessage(message);
}

/** Removes a notification. */
export async function removeNotification(tag: string): Promise<void> {
  for (const shown of await worker.registration.getNotifications({ tag })) shown.close();
}

async function isPageVisible(): Promise<boolean> {
  const pages = await worker.clients.matchAll({ type: 'window' });
  return pages.some((page) => page.visibilityState === 'visible');
}
