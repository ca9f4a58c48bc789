/** A Signal lets functions listen for something that happens repeatedly, such as a change of a value. */
export interface Signal<Values extends unknown[]> {
  /** Calls the listener every time, until the returned function is called. */
  subscribe: (listener: (...values: Values) => void) => () => void;
  /** Calls all listeners, in the order in which they subscribed. */
  notify: (...values: Values) => void;
  hasListeners: () => boolean;
}

/** Returns a signal without listeners. A listener that subscribes twice is called once. */
export function signal<Values extends unknown[] = []>(): Signal<Values> {
  const listeners = new Set<(...values: Values) => void>();
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    notify: (...values) => listeners.forEach((listener) => listener(...values)),
    hasListeners: () => listeners.size > 0,
  };
}
