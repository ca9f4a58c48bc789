import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import type { Question } from '@/api/types';
import { dataOwner } from './owner';

// The last inbox is stored, so that it opens without a network.

interface Schema extends DBSchema {
  questions: { key: string; value: Question & { kept_order: number; kept_for?: string } };
}

let database: Promise<IDBPDatabase<Schema> | undefined> | undefined;
function openDatabase() {
  database ??= openDB<Schema>('fermata-last', 1, { upgrade: (db) => void db.createObjectStore('questions', { keyPath: 'id' }) }).catch(() => undefined);
  return database;
}

let isDeleted = false;

/** Stores the head of the inbox as it was just shown. */
export async function storeInbox(questions: Question[]): Promise<void> {
  const db = await openDatabase();
  if (!db || isDeleted) return;
  const change = db.transaction('questions', 'readwrite');
  await change.store.clear();
  await Promise.all(questions.map((question, at) => change.store.put({ ...question, kept_order: at, kept_for: dataOwner() })));
  await change.done;
}

export async function readStoredInbox(): Promise<Question[]> {
  const kept = (await (await openDatabase())?.getAll('questions')) ?? [];
  return kept.filter(isMine).sort((a, b) => a.kept_order - b.kept_order);
}

export async function readStoredQuestion(id: string): Promise<Question | undefined> {
  const kept = await (await openDatabase())?.get('questions', id);
  return kept && isMine(kept) ? kept : undefined;
}

const isMine = (kept: { kept_for?: string }) => kept.kept_for === dataOwner();

/** Deletes the stored inbox. After that, this page stores no inbox. */
export async function deleteStoredInbox(): Promise<void> {
  isDeleted = true;
  await (await openDatabase())?.clear('questions');
}
