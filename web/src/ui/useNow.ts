import { useEffect, useState } from 'react';
import { serverNow } from '@/api/time';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void) {
  listeners.add(listener);
  timer ??= setInterval(() => listeners.forEach((each) => each()), 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Returns the server's time, which is updated while the component is rendered. */
export function useNow(): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => subscribe(() => setNow(serverNow())), []);
  return now;
}
