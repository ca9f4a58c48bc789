import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import { liveState, onLiveState } from '@/api/live';

const patience = 3_000;

/**
 * A part of a page that is fetched when it is first needed. Without a
 * connection it stays away and is asked for again: a missing part must not
 * take with it the page that the reader works on.
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

/** Ends when the connection is back, or after a while. */
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

/** A style sheet that could not be fetched is asked for again; the loader of modules asks once. */
export function keepStyles(): void {
  addEventListener('error', ({ target }) => {
    if (!(target instanceof HTMLLinkElement) || target.rel !== 'stylesheet') return;
    void mayHelp().then(() => target.replaceWith(target.cloneNode()));
  }, true);
}
