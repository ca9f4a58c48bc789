import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import { liveState, onLiveState } from '@/api/live';

const retryDelay = 3_000;

/**
 * Returns a part of a page that is loaded when it is first needed. If the load
 * fails, it is repeated. Until then the part is absent, but the rest of the
 * page stays and works.
 */
export function lazyComponent<P>(load: () => Promise<ComponentType<P>>): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => ({ default: await loadWithRetry(load) }));
}

async function loadWithRetry<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load();
    } catch {
      await waitForConnection();
    }
  }
}

/** Resolves when the connection is back, or after a while. */
function waitForConnection(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, retryDelay);
    const stop = onLiveState(() => liveState() === 'open' && finish());
    addEventListener('online', finish);
    function finish() {
      clearTimeout(timer);
      stop();
      removeEventListener('online', finish);
      resolve();
    }
  });
}

/** Requests a style sheet again if it could not be loaded. The module loader itself tries only once. */
export function retryStyleSheets(): void {
  addEventListener('error', ({ target }) => {
    if (!(target instanceof HTMLLinkElement) || target.rel !== 'stylesheet') return;
    void waitForConnection().then(() => target.replaceWith(target.cloneNode()));
  }, true);
}
