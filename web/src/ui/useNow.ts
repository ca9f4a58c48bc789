import { useEffect, useState } from 'react';
import { signal } from '@/api/signal';
import { serverNow } from '@/api/time';

const ticks = signal();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void) {
  const stop = ticks.subscribe(listener);
  timer ??= setInterval(ticks.notify, 1000);
  return () => {
    stop();
    if (ticks.hasListeners()) return;
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
