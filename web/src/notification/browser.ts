import type { News } from './api';
import { headline } from './headline';
import type { NewsText } from './text';

/** What the browser lets a page show. */
export type Permission = 'unsupported' | NotificationPermission;

export function permission(): Permission {
  return 'Notification' in globalThis && isSecureContext ? Notification.permission : 'unsupported';
}

/** Asks the person; only ever after a press of a button. */
export async function askPermission(): Promise<Permission> {
  return permission() === 'unsupported' ? 'unsupported' : Notification.requestPermission();
}

/** Where a press on the notification leads. */
export const addressOf = (news: News) => (news.question ? `/questions/${news.question.id}` : `/tasks/${news.task.id}`);

const stopsWork = (news: News) => /asked|assigned|escalated/.test(news.type) && news.question?.type !== 'non_blocking' && news.question?.status === 'pending';

/** What of the latest news is to be told: what is newer than what was told last, oldest first. */
export function toTell(items: readonly News[], after: number, kinds: 'urgent' | 'all'): News[] {
  return items.filter((news) => news.seq > after && (kinds === 'all' || stopsWork(news))).sort((a, b) => a.seq - b.seq);
}

const shown = new Map<string, Notification>();

/** Shows one; the same one from several tabs is one by its tag. */
export async function show(news: News, text: NewsText, open: (address: string) => void): Promise<void> {
  const title = headline(news, text);
  const options: NotificationOptions = { body: news.question?.title ?? news.task.title, tag: `fermata-${news.seq}`, icon: '/icon-192.png', data: { address: addressOf(news) } };
  try {
    const notice = new Notification(title, options);
    shown.set(news.question?.id ?? '', notice);
    notice.onclick = () => {
      window.focus();
      notice.close();
      open(addressOf(news));
    };
  } catch {
    // Phones show them by the service worker only, which also hears of presses.
    await (await navigator.serviceWorker.ready).showNotification(title, options);
  }
}

/** A question that closed needs nobody any more: its notification goes. */
export function withdraw(question: string): void {
  shown.get(question)?.close();
  shown.delete(question);
}

/** Whether the person looks at this page now. */
export const looks = () => document.visibilityState === 'visible' && document.hasFocus();
