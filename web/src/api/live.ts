import type { QueryClient } from '@tanstack/react-query';
import { eventTypes } from './eventTypes';
import { forgetReceived, recordReceived, lastReceivedSeq } from './receivedEvents';
import { refetchQueries } from './reads';
import { signal } from './signal';
import type { Event, EventNoun } from './types';

// Events reach the browser over one stream. A browser keeps only a few
// connections to one server open. So one tab holds the stream and passes the
// events on to the other tabs.

export type LiveState = 'connecting' | 'open' | 'lost';
type LiveMessage = { event: Event } | { reset: true } | { state: LiveState };

const events = signal<[event: Event]>();
const resets = signal();
const stateChanges = signal();
let state: LiveState = 'connecting';
let started = false;

/** Calls the listener for every event, in order. */
export const onEvent = events.subscribe;

/** Calls the listener when events may have been missed. */
export const onReset = resets.subscribe;

export const liveState = () => state;
export const onLiveState = stateChanges.subscribe;

function handleMessage(message: LiveMessage) {
  if ('event' in message) {
    // A tab that takes over the stream may repeat events that this tab received from the previous one.
    if (!recordReceived(message.event)) return;
    events.notify(message.event);
  } else if ('reset' in message) {
    forgetReceived();
    resets.notify();
  } else if (message.state !== state) {
    // The server replays the events of the gap, but another tab may have held
    // the stream. So this tab may have missed some of them.
    if (message.state === 'open' && state === 'lost') resets.notify();
    state = message.state;
    stateChanges.notify();
  }
}

/** Opens the stream of this tab again if the server refused it. It does nothing if the stream is open. */
let reopen: () => void = () => undefined;

/** Opens the stream again at once, instead of after a while. Call it when a session begins. */
export const retryLive = (): void => reopen();

/** Follows the server's events for as long as the page lives. A visitor without a session has lost nothing. */
export function startLive(isSignedIn: () => boolean): void {
  if (started) return;
  started = true;
  const channel = 'BroadcastChannel' in window ? new BroadcastChannel('fermata-live') : undefined;
  const broadcast = (message: LiveMessage) => {
    handleMessage(message);
    channel?.postMessage(message);
  };
  if (channel) channel.onmessage = (message: MessageEvent<LiveMessage>) => handleMessage(message.data);
  // Pages that are not served over TLS have no locks. Each tab then has its own stream.
  const locks = (navigator as Partial<Navigator>).locks;
  if (!channel || !locks) {
    openStream(handleMessage, isSignedIn);
    return;
  }
  void locks.request('fermata-live', () => {
    openStream(broadcast, isSignedIn);
    return new Promise<never>(() => undefined);
  });
  // A tab that opens later gets no message about the state of the stream. It
  // assumes that the stream is open, unless the browser is offline.
  if (state === 'connecting') handleMessage({ state: navigator.onLine ? 'open' : 'lost' });
}

function openStream(send: (message: LiveMessage) => void, isSignedIn: () => boolean) {
  let retryDelay = 1_000;
  let timer: ReturnType<typeof setTimeout> | undefined;
  reopen = () => {
    if (timer === undefined) return;
    clearTimeout(timer);
    connect();
  };
  const connect = () => {
    timer = undefined;
    // The stream continues after the last event that the pages received. If
    // they received none yet, a reset makes them read again all data that they
    // read before the stream was open.
    const last = lastReceivedSeq();
    const stream = new EventSource(last ? `/v1/events?after=${String(last)}` : '/v1/events');
    stream.onopen = () => {
      retryDelay = 1_000;
      send({ state: 'open' });
      if (!lastReceivedSeq()) send({ reset: true });
    };
    stream.onerror = () => {
      const isRefused = stream.readyState === EventSource.CLOSED;
      if (!isRefused || isSignedIn()) send({ state: 'lost' });
      if (!isRefused) return; // The browser reconnects by itself.
      timer = setTimeout(connect, retryDelay);
      retryDelay = Math.min(retryDelay * 2, 30_000);
    };
    stream.addEventListener('reset', () => send({ reset: true }));
    for (const type of eventTypes) {
      stream.addEventListener(type, (message: MessageEvent<string>) => send({ event: JSON.parse(message.data) as Event }));
    }
  };
  connect();
}

/**
 * Maps the first word of an event type to the queries that such an event makes stale. The others are read again by
 * followEvents, or when their page is opened.
 */
const staleKeys: Partial<Record<string, readonly string[]>> = {
  question: ['questions', 'tasks', 'counts', 'notifications', 'deliveries'],
  task: ['tasks', 'notifications'],
  run: ['tasks', 'runs'],
  message: ['tasks', 'messages'],
  progress: ['tasks'],
  workflow: [],
  member: ['members', 'whoami'],
  token: ['tokens'],
  policy: ['policies'],
  gate: ['gates'],
  grant: [],
  channel: ['channels'],
  delivery: ['deliveries', 'channels'],
  github: [],
  database: [],
  audit: [],
  retention: ['tasks', 'questions', 'counts', 'deliveries'],
} satisfies Record<EventNoun, readonly string[]>;

/**
 * Marks queries as stale after events that concern them, until the returned function is called. It collects a burst of
 * events before it does so.
 */
export function refreshByEvents(client: QueryClient): () => void {
  const staleNouns = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refresh = () => {
    timer = undefined;
    for (const noun of staleNouns) refetchQueries(client, [noun]);
    staleNouns.clear();
  };
  const stopEvents = onEvent((event) => {
    for (const noun of staleKeys[event.type.split('.')[0] ?? ''] ?? []) staleNouns.add(noun);
    timer ??= setTimeout(refresh, 150);
  });
  const stopResets = onReset(() => refetchQueries(client, []));
  return () => {
    stopEvents();
    stopResets();
    clearTimeout(timer);
  };
}
