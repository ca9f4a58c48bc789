import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import { onLiveState, liveState } from '@/api/live';
import { api, need } from '@/api/client';
import { newKey } from '@/api/key';
import { asProblem, type Code, type Problem } from '@/api/problem';
import { queryClient, whoamiQuery } from '@/api/queries';
import { keptFor } from '@/offline/kept';
import { showQuestion } from '@/question/queries';
import { onSignOut, type Unsent } from '@/sign-in/session';
import type { Answer, Question } from '@/api/types';

// Every answer goes through here: it is written down before it is sent, and
// sent with the same key until the server has said what became of it.

export type EntryState = 'sending' | 'queued' | 'accepted' | 'refused';

export interface Entry {
  /** The idempotency key. */
  key: string;
  questionId: string;
  title: string;
  /** The answer in words. */
  said: string;
  body: Answer;
  /** The exact text of the edited action. */
  action?: string;
  at: number;
  /** Who answered: nobody else sees it, and nobody else's session sends it. */
  by: string;
  state: EntryState;
  /** It could not be sent at once: its way is shown to the end. */
  waited: boolean;
  problem?: { code: Code; detail: string; hint?: string };
}

interface Schema extends DBSchema {
  answers: { key: string; value: Entry };
}

let database: Promise<IDBPDatabase<Schema> | undefined> | undefined;
function open() {
  database ??= openDB<Schema>('fermata-outbox', 1, { upgrade: (db) => void db.createObjectStore('answers', { keyPath: 'key' }) }).catch(() => undefined);
  return database;
}

let entries: readonly Entry[] = [];
const listeners = new Set<() => void>();

export const outbox = () => entries;
export function onOutbox(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function show(entry: Entry, gone = false) {
  const others = entries.filter((each) => each.key !== entry.key);
  entries = gone ? others : [...others, entry].sort((a, b) => a.at - b.at);
  listeners.forEach((listener) => listener());
}

async function save(entry: Entry): Promise<void> {
  show(entry);
  await (await open())?.put('answers', entry);
}

/** Forgets an entry whose end the reader has seen. */
export async function dismiss(entry: Entry): Promise<void> {
  show(entry, true);
  await (await open())?.delete('answers', entry.key);
}

const accepted = new Set<(entry: Entry, question: Question) => void>();

/** Hears of every answer that the server took. */
export function onAccepted(listener: (entry: Entry, question: Question) => void): () => void {
  accepted.add(listener);
  return () => accepted.delete(listener);
}

/** Sends an answer; the promise ends when its fate is known or it has to wait. */
export async function sendAnswer(question: Question, said: string, body: Answer, action?: string): Promise<Entry> {
  const entry: Entry = { key: newKey(), questionId: question.id, title: question.title, said, body, action, at: Date.now(), by: whoIsHere() ?? keptFor(), state: 'sending', waited: false };
  const saved = save(entry);
  if (!navigator.onLine) {
    const waiting: Entry = { ...entry, state: 'queued', waited: true };
    await saved;
    await save(waiting);
    return waiting;
  }
  return deliver(entry);
}

async function deliver(entry: Entry): Promise<Entry> {
  try {
    const question = (await need(
      api.POST('/v1/questions/{id}/answer', {
        params: { path: { id: entry.questionId }, header: { 'Idempotency-Key': entry.key } },
        // The browser's session may be somebody else's by now: the server refuses then.
        headers: { 'Fermata-Member': entry.by },
        body: entry.body,
        bodySerializer: (body) => withAction(body, entry.action),
      }),
    )) as Question;
    showQuestion(queryClient, question);
    accepted.forEach((listener) => listener(entry, question));
    const done: Entry = { ...entry, state: 'accepted', problem: undefined };
    await (entry.waited ? save(done) : dismiss(done));
    return done;
  } catch (error) {
    return failed(entry, asProblem(error));
  }
}

/** The body as it is sent: what will run is not read and written anew. */
export function withAction(body: Answer, action?: string): string {
  const rest = JSON.stringify(body);
  return action === undefined ? rest : `${rest.slice(0, -1)}${rest === '{}' ? '' : ','}"action":${action}}`;
}

/** What passes is tried again; what does not is told to the reader. */
async function failed(entry: Entry, problem: Problem): Promise<Entry> {
  const passes = problem.offline || problem.status >= 500 || ['unauthenticated', 'rate_limited', 'unavailable'].includes(problem.code);
  const next: Entry = {
    ...entry, state: passes ? 'queued' : 'refused', waited: true,
    problem: { code: problem.code, detail: problem.message, hint: problem.hint },
  };
  if (problem.question) showQuestion(queryClient, problem.question);
  await save(next);
  return next;
}

const whoIsHere = () => queryClient.getQueryData(whoamiQuery.queryKey)?.name;

let flushing = false;

/** Sends what waits, in the order in which it was answered. */
export async function flush(): Promise<void> {
  if (flushing || !navigator.onLine) return;
  flushing = true;
  try {
    for (const entry of entries.filter((each) => each.state === 'queued')) {
      // Another person may have signed in here since.
      if (entry.by !== whoIsHere()) continue;
      const next = await deliver({ ...entry, state: 'sending' });
      if (next.state === 'queued' && next.problem?.code !== 'rate_limited') return;
    }
  } finally {
    flushing = false;
  }
}

/** Takes up what earlier pages and other tabs left for whoever is here. */
async function takeUp(): Promise<void> {
  const left = (await (await open())?.getAll('answers')) ?? [];
  for (const entry of left) {
    if (entry.by !== keptFor() || entries.some((each) => each.key === entry.key)) continue;
    // Whether a cut connection brought it to the server is not known: its key tells.
    show(entry.state === 'sending' ? { ...entry, state: 'queued', waited: true } : entry);
  }
}

const isUnsent = ({ state }: Entry) => state === 'queued' || state === 'sending';

/** The answers that were given here and did not reach the server. */
export async function unsent(): Promise<readonly Entry[]> {
  await takeUp();
  return entries.filter(isUnsent);
}

/** Forgets what became of answers, and those that wait if they are not to be kept. */
async function forget(what: Unsent): Promise<void> {
  await takeUp();
  for (const entry of entries) if (what === 'discard' || !isUnsent(entry)) await dismiss(entry);
}

/** Takes up what an earlier page left, and tries again whenever that may help. */
export async function startOutbox(): Promise<void> {
  onSignOut(forget);
  await takeUp();
  const again = () => void flush();
  addEventListener('online', again);
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && again());
  onLiveState(() => liveState() === 'open' && again());
  queryClient.getQueryCache().subscribe((event) => {
    // Somebody signed in again.
    if (event.type === 'updated' && event.action.type === 'success' && event.query.queryHash === '["whoami"]') void takeUp().then(again);
  });
  setInterval(() => entries.some((each) => each.state === 'queued') && again(), 15_000);
  again();
}
