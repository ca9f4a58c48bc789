import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import { liveState, onLiveState } from '@/api/live';

const patience = 3_000;

/**
 * Returns a part of a page that is loaded when it is first needed. Without a
 * connection the part is absent, and the load is repeated. A missing part must
 * not take away the page on which the reader works.
 */
export function piece<P>(load: () => Promise<ComponentType<P>>): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => ({ default: await patiently(load) }));
}

async function patiently<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load();
    } catch {
      await mayHelp();
    }
  }
}

/** Resolves when the connection is back, or after a while. */
function mayHelp(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, patience);
    const stop = onLiveState(() => liveState() === 'open' && done());
    addEventListener('online', done);
    function done() {
      clearTimeout(timer);
      stop();
      removeEventListener('online', done);
      resolve();
    }
  });
}

/** Requests a style sheet again if it could not be loaded. The module loader itself tries only once. */
export function keepStyles(): void {
  addEventListener('error', ({ target }) => {
    if (!(target instanceof HTMLLinkElement) || target.rel !== 'stylesheet') return;
    void mayHelp().then(() => target.replaceWith(target.cloneNode()));
  }, true);
}
