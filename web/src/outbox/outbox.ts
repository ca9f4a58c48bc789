import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import { onLiveState, liveState } from '@/api/live';
import { api, unwrap } from '@/api/client';
import { newIdempotencyKey } from '@/api/key';
import { asProblem, type Code, type Problem } from '@/api/problem';
import { onSignedIn, queryClient, whoamiQuery } from '@/api/queries';
import { signal } from '@/api/signal';
import { dataOwner } from '@/offline/owner';
import { showQuestion } from '@/question/queries';
import { onSignOut, type UnsentChoice } from '@/sign-in/session';
import type { Answer, Question } from '@/api/types';

// Every answer goes through this file. It is stored before it is sent, and sent
// with the same key until the server has accepted or refused it.

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
  /** The person who answered. No other person sees the entry, and no other person's session sends it. */
  by: string;
  state: EntryState;
  /** Whether the answer could not be sent at once. The reader then sees its progress until the end. */
  waited: boolean;
  problem?: { code: Code; detail: string; hint?: string };
}

interface Schema extends DBSchema {
  answers: { key: string; value: Entry };
}

let database: Promise<IDBPDatabase<Schema> | undefined> | undefined;
function openDatabase() {
  database ??= openDB<Schema>('fermata-outbox', 1, { upgrade: (db) => void db.createObjectStore('answers', { keyPath: 'key' }) }).catch(() => undefined);
  return database;
}

let entries: readonly Entry[] = [];
const changes = signal();

export const outbox = () => entries;
export const onOutbox = changes.subscribe;

function updateEntries(entry: Entry, gone = false) {
  const others = entries.filter((each) => each.key !== entry.key);
  entries = gone ? others : [...others, entry].sort((a, b) => a.at - b.at);
  changes.notify();
}

async function save(entry: Entry): Promise<void> {
  updateEntries(entry);
  await (await openDatabase())?.put('answers', entry);
}

/** Deletes an entry when the reader has seen how it ended. */
export async function dismiss(entry: Entry): Promise<void> {
  updateEntries(entry, true);
  await (await openDatabase())?.delete('answers', entry.key);
}

const acceptances = signal<[entry: Entry, question: Question]>();

/** Calls the listener for every answer that the server accepted. */
export const onAccepted = acceptances.subscribe;

/** Returns the time of a new entry. It is later than that of each entry before, so the entries keep their order. */
const nextTime = () => Math.max(Date.now(), (entries.at(-1)?.at ?? 0) + 1);

/** Sends an answer. The promise resolves when the result is known or when the answer has to wait. */
export async function sendAnswer(question: Question, said: string, body: Answer, action?: string): Promise<Entry> {
  const entry: Entry = { key: newIdempotencyKey(), questionId: question.id, title: question.title, said, body, action, at: nextTime(), by: signedInName() ?? dataOwner(), state: 'sending', waited: false };
  const saved = save(entry);
  if (!navigator.onLine) {
    const waiting: Entry = { ...entry, state: 'queued', waited: true };
    await saved;
    await save(waiting);
    return waiting;
  }
  return sendEntry(entry);
}

async function sendEntry(entry: Entry): Promise<Entry> {
  try {
    const question = (await unwrap(
      api.POST('/v1/questions/{id}/answer', {
        params: { path: { id: entry.questionId }, header: { 'Idempotency-Key': entry.key } },
        // The session of the browser may belong to another person by now. The server then refuses the answer.
        headers: { 'Fermata-Member': entry.by },
        body: entry.body,
        bodySerializer: (body) => withAction(body, entry.action),
      }),
    )) as Question;
    showQuestion(queryClient, question);
    acceptances.notify(entry, question);
    const done: Entry = { ...entry, state: 'accepted', problem: undefined };
    await (entry.waited ? save(done) : dismiss(done));
    return done;
  } catch (error) {
    return handleFailure(entry, asProblem(error));
  }
}

/** Returns the request body. The action is inserted as text, because parsing and writing it again could change it. */
export function withAction(body: Answer, action?: string): string {
  const rest = JSON.stringify(body);
  return action === undefined ? rest : `${rest.slice(0, -1)}${rest === '{}' ? '' : ','}"action":${action}}`;
}

/** Queues an answer again after a temporary failure, and reports any other failure to the reader. */
async function handleFailure(entry: Entry, problem: Problem): Promise<Entry> {
  const isTemporary = problem.offline || problem.status >= 500 || ['unauthenticated', 'rate_limited', 'unavailable'].includes(problem.code);
  const next: Entry = {
    ...entry, state: isTemporary ? 'queued' : 'refused', waited: true,
    problem: { code: problem.code, detail: problem.message, hint: problem.hint },
  };
  if (problem.question) showQuestion(queryClient, problem.question);
  await save(next);
  return next;
}

const signedInName = () => queryClient.getQueryData(whoamiQuery.queryKey)?.name;

let flushing = false;

/** Sends the waiting answers, in the order in which they were given. */
export async function flush(): Promise<void> {
  if (flushing || !navigator.onLine) return;
  flushing = true;
  try {
    for (const entry of entries.filter((each) => each.state === 'queued')) {
      // Another person may have signed in here meanwhile.
      if (entry.by !== signedInName()) continue;
      const next = await sendEntry({ ...entry, state: 'sending' });
      if (next.state === 'queued' && next.problem?.code !== 'rate_limited') return;
    }
  } finally {
    flushing = false;
  }
}

/** Loads the entries that earlier pages and other tabs stored for this page's owner. */
async function loadStoredEntries(): Promise<void> {
  const stored = (await (await openDatabase())?.getAll('answers')) ?? [];
  for (const entry of stored) {
    if (entry.by !== dataOwner() || entries.some((each) => each.key === entry.key)) continue;
    // If the connection was cut, the server may or may not have the answer. The
    // idempotency key makes it safe to repeat.
    updateEntries(entry.state === 'sending' ? { ...entry, state: 'queued', waited: true } : entry);
  }
}

const isUnsent = ({ state }: Entry) => state === 'queued' || state === 'sending';

/** Returns the answers of this page's owner that the server has not confirmed yet. */
export async function loadUnsent(): Promise<readonly Entry[]> {
  await loadStoredEntries();
  return entries.filter(isUnsent);
}

/** Deletes the entries that have a result. It deletes the waiting ones as well if the reader discards them. */
async function deleteEntries(what: UnsentChoice): Promise<void> {
  await loadStoredEntries();
  for (const entry of entries) if (what === 'discard' || !isUnsent(entry)) await dismiss(entry);
}

/**
 * Loads the entries of earlier pages. It sends the waiting ones when the connection is back, the page is shown or the
 * person signs in, and every 15 seconds.
 */
export async function startOutbox(): Promise<void> {
  onSignOut(deleteEntries);
  await loadStoredEntries();
  const retry = () => void flush();
  addEventListener('online', retry);
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && retry());
  onLiveState(() => liveState() === 'open' && retry());
  // The person may have signed in again.
  onSignedIn(() => void loadStoredEntries().then(retry));
  setInterval(() => entries.some((each) => each.state === 'queued') && retry(), 15_000);
  retry();
}
