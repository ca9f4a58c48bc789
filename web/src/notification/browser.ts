import type { News } from './api';
import { headline } from './headline';
import type { NewsText } from './text';

/** Whether the browser lets a page show notifications. */
export type Permission = 'unsupported' | NotificationPermission;

export function permission(): Permission {
  return 'Notification' in globalThis && isSecureContext ? Notification.permission : 'unsupported';
}

/** Asks the reader for permission. Call it only after a press of a button. */
export async function askPermission(): Promise<Permission> {
  return permission() === 'unsupported' ? 'unsupported' : Notification.requestPermission();
}

/** Returns the address that a press on the notification opens. */
export const addressOf = (news: News) => (news.question ? `/questions/${news.question.id}` : `/tasks/${news.task.id}`);

const stopsWork = (news: News) => /asked|assigned|escalated/.test(news.type) && news.question?.type !== 'non_blocking' && news.question?.status === 'pending';

/** Returns the news to show: those newer than the event `after`, of the kinds that the reader wants, oldest first. */
export function newsToShow(items: readonly News[], after: number, kinds: 'urgent' | 'all'): News[] {
  return items.filter((news) => news.seq > after && (kinds === 'all' || stopsWork(news))).sort((a, b) => a.seq - b.seq);
}

const openNotifications = new Map<string, Notification>();

/** Shows one notification. Its tag makes it appear once, even if several tabs show it. */
export async function showNotification(news: News, text: NewsText, open: (address: string) => void): Promise<void> {
  const title = headline(news, text);
  const options: NotificationOptions = { body: news.question?.title ?? news.task.title, tag: `fermata-${news.seq}`, icon: '/icon-192.png', data: { address: addressOf(news) } };
  try {
    const notice = new Notification(title, options);
    openNotifications.set(news.question?.id ?? '', notice);
    notice.onclick = () => {
      window.focus();
      notice.close();
      open(addressOf(news));
    };
  } catch {
    // On phones only the service worker can show notifications. It also receives the presses.
    await (await navigator.serviceWorker.ready).showNotification(title, options);
  }
}

/** Removes the notification of a question that closed. */
export function removeNotification(question: string): void {
  openNotifications.get(question)?.close();
  openNotifications.delete(question);
}

/** Reports whether the reader looks at this page now. */
export const isReaderHere = () => document.visibilityState === 'visible' && document.hasFocus();
