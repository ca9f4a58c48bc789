import { useMutation } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { asProblem } from '@/api/problem';

/** The errors of a form, by the name of the field in the API. */
export type Errors = Partial<Record<string, string>>;

/** Returns the errors that the server reported for single fields. */
export function errorsOf(error: unknown): Errors {
  if (!error) return {};
  return Object.fromEntries((asProblem(error).details.problems ?? []).flatMap(({ field, message }) => (field ? [[field, message]] : [])));
}

interface Options<V, R> {
  /** The initial values, or a function that returns them and is called once. */
  initial: V | (() => V);
  /** Checks the values by the server's own rules, so that the reader sees errors without a request. */
  check: (values: V) => Errors;
  save: (values: V) => Promise<R>;
  /**
   * Returns the values that are stored after a save. A form that stays open continues with them, and keeps the changes
   * that the reader made meanwhile.
   */
  stored?: (result: R, sent: V) => V;
  onSaved: (result: R) => void;
}

/** Returns the stored values with the changes that the reader made since they were sent. */
export function withChanges<V extends object>(stored: V, sent: V, now: V): V {
  const values = { ...stored };
  for (const key of Object.keys(now) as (keyof V)[]) {
    if (JSON.stringify(now[key]) !== JSON.stringify(sent[key])) values[key] = now[key];
  }
  return values;
}

/** Holds the values of a form and their errors, and sends the values. */
export function useForm<V extends object, R>({ initial, check, save, stored, onSaved }: Options<V, R>) {
  const [base, setBase] = useState(initial);
  const [values, setValues] = useState(base);
  const [attempts, setAttempts] = useState(0);
  const sending = useMutation({
    mutationFn: save,
    onSuccess: (result, sent) => {
      if (stored) continueWith(sent, stored(result, sent));
      onSaved(result);
    },
  });
  const ownErrors = check(values);
  const isWrong = Object.keys(ownErrors).length > 0;

  function continueWith(sent: V, next: V) {
    setBase(next);
    setValues((now) => withChanges(next, sent, now));
    setAttempts(0);
  }
  function set<K extends keyof V>(key: K, value: V[K]) {
    setValues((before) => ({ ...before, [key]: value }));
    if (sending.error) sending.reset();
  }
  function submit(event?: SubmitEvent) {
    event?.preventDefault();
    if (sending.isPending) return;
    setAttempts((n) => n + 1);
    if (!isWrong) sending.mutate(values);
  }
  return {
    attempts, values, set, setValues, submit, reset: () => setValues(base),
    errors: { ...(attempts > 0 ? ownErrors : {}), ...errorsOf(sending.error) } as Errors,
    error: sending.error, sending: sending.isPending,
    changed: JSON.stringify(values) !== JSON.stringify(base),
  };
}
