import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { usePreference } from '@/shell/preferences';
import { permission, showNotification } from './browser';
import { startNewsWatcher, stopNewsWatcher } from './newsWatcher';
import { useNewsText } from './text';

/** Shows notifications of the browser while a page is open and the person looks elsewhere. */
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
    startNewsWatcher().showWith((news) => showNotification(news, latest.current.text, (address) => void latest.current.navigate({ to: address })));
    return stopNewsWatcher;
  }, [on]);
  return null;
}
