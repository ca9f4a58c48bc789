import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import type { Question } from '@/api/types';
import { keptFor } from './kept';

// The last inbox is stored, so that it opens without a network.

interface Schema extends DBSchema {
  questions: { key: string; value: Question & { kept_order: number; kept_for?: string } };
}

let database: Promise<IDBPDatabase<Schema> | undefined> | undefined;
function open() {
  database ??= openDB<Schema>('fermata-last', 1, { upgrade: (db) => void db.createObjectStore('questions', { keyPath: 'id' }) }).catch(() => undefined);
  return database;
}

let forgotten = false;

/** Stores the head of the inbox as it was just shown. */
export async function keepInbox(questions: Question[]): Promise<void> {
  const db = await open();
  if (!db || forgotten) return;
  const change = db.transaction('questions', 'readwrite');
  await change.store.clear();
  await Promise.all(questions.map((question, at) => change.store.put({ ...question, kept_order: at, kept_for: keptFor() })));
  await change.done;
}

export async function lastInbox(): Promise<Question[]> {
  const kept = (await (await open())?.getAll('questions')) ?? [];
  return kept.filter(mine).sort((a, b) => a.kept_order - b.kept_order);
}

export async function lastQuestion(id: string): Promise<Question | undefined> {
  const kept = await (await open())?.get('questions', id);
  return kept && mine(kept) ? kept : undefined;
}

const mine = (kept: { kept_for?: string }) => kept.kept_for === keptFor();

/** Deletes the stored inbox. After that, this page stores no inbox. */
export async function forgetInbox(): Promise<void> {
  forgotten = true;
  await (await open())?.clear('questions');
}
