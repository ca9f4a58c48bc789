import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { onEvent } from '@/api/live';
import { preferences, usePreference } from '@/shell/preferences';
import { latestNews, mayBeNews } from './api';
import { looks, permission, show, toTell, withdraw } from './browser';
import { useNewsText } from './text';

const soon = 400;

/** Tells what happens by the browser, while a page is open and the person looks elsewhere. */
export function BrowserNotices() {
  const text = useNewsText();
  const navigate = useNavigate();
  const [on] = usePreference('browserNotifications');
  const latest = useRef({ text, navigate });
  useEffect(() => {
    latest.current = { text, navigate };
  });
  useEffect(() => {
    if (!on || permission() !== 'granted') return;
    let told: number | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      timer = undefined;
      const { items } = await latestNews();
      const after = told ?? Infinity;
      told = Math.max(told ?? 0, items[0]?.seq ?? 0);
      for (const news of toTell(items, after, preferences().browserKinds)) {
        await show(news, latest.current.text, (address) => void latest.current.navigate({ to: address }));
      }
    };
    // What happened before is no news any more. What the page has read already may be older than that.
    const begin = latestNews().then(({ items }) => (told ??= items[0]?.seq ?? 0), () => undefined);
    const stop = onEvent((event) => {
      if (!mayBeNews(event.type)) return;
      if (event.question_id && /answered|timed_out|cancelled|held/.test(event.type)) withdraw(event.question_id);
      // Who looked when it happened has seen it.
      if (looks()) told = Math.max(told ?? 0, event.seq);
      else timer ??= setTimeout(() => void begin.then(look).catch(() => undefined), soon);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [on]);
  return null;
}
