import { useCallback, useEffect, useRef, useState } from 'react';
import { canonicalJSON } from '@/api/exact';
import type { Answer, Question } from '@/api/types';
import { sendAnswer } from '@/outbox/outbox';
import { readDraft, writeDraft } from './draft';
import { answersText, fault, keyOf, picksDanger, wireValues, type Value, type Values } from './item';
import { signAnswer } from './sign';
import { useText } from './text';

/** The reason why an answer must be confirmed. */
export type ConfirmReason = 'danger' | 'risk';

/** Holds the answer that the reader is giving to a question: its values, its faults and its sending. */
export function useAnswer(question: Question, onSent: () => void) {
  const text = useText();
  const [draft] = useState(() => readDraft(question.id));
  const [values, setValues] = useState<Values>(draft?.values ?? {});
  const [other, setOther] = useState<Record<string, string>>(draft?.other ?? {});
  const [comment, setComment] = useState(draft?.comment ?? '');
  const [action, setAction] = useState<string | undefined>(draft?.action);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [doubt, setDoubt] = useState<{ kind: ConfirmReason; values: Values }>();
  const [sending, setSending] = useState(false);
  /** Why the passkey did not sign the answer. */
  const [unsigned, setUnsigned] = useState<unknown>();
  const sent = useRef(false);

  useEffect(() => {
    if (!sent.current) writeDraft(question.id, { values, other, comment, action });
  }, [question.id, values, other, comment, action]);

  // Allows another answer once the question shows this one, because an undo may open the question again.
  const given = question.held !== undefined || question.status !== 'pending';
  useEffect(() => {
    if (given) sent.current = false;
  }, [given]);

  const change = useCallback((key: string, value: Value | undefined) => {
    setValues((before) => ({ ...before, [key]: value }));
    setFaults({});
    setDoubt(undefined);
  }, []);
  const changeOther = useCallback((key: string, words: string | undefined) => {
    setOther((before) => {
      const { [key]: _, ...rest } = before;
      return words === undefined ? rest : { ...rest, [key]: words };
    });
    setFaults({});
  }, []);

  /** Returns the values with the reader's own words in their places. */
  const complete = (given: Values): Values => {
    const all = { ...given };
    for (const [key, words] of Object.entries(other)) {
      if (words.trim() === '') continue;
      const value = all[key];
      all[key] = Array.isArray(value) ? [...value, words] : question.items.find((item) => keyOf(item) === key)?.response_type === 'multi_choice' ? [words] : words;
    }
    return all;
  };

  const check = (given: Values): Record<string, string> => {
    const all = complete(given);
    const found: Record<string, string> = {};
    for (const item of question.items) {
      const wrong = fault(item, all[keyOf(item)], text);
      if (wrong) found[keyOf(item)] = wrong;
    }
    return found;
  };

  /** Sends the answer, or shows what is wrong with it, or asks to confirm it. */
  const submit = (given: Values, { confirmed = false, restart = false } = {}) => {
    if (sending || sent.current) return false;
    const found = check(given);
    setFaults(found);
    if (Object.keys(found).length > 0) return false;
    const all = complete(given);
    const kind = confirmed ? undefined : confirmReasonOf(question, all);
    setDoubt(kind && { kind, values: given });
    if (kind) return false;
    void send(all, restart);
    return true;
  };

  const send = async (all: Values, restart: boolean) => {
    const answers = wireValues(question, all);
    const approves = question.type === 'approval' && Object.values(answers).includes('approve');
    const body: Answer = { answers, channel: 'web', undo: true };
    if (comment.trim() !== '') body.comment = comment;
    if (restart) body.restart = true;
    if (question.type === 'approval' && question.action_hash) body.action_hash = question.action_hash;
    sent.current = true;
    setSending(true);
    const edited = approves && action !== undefined ? canonicalJSON(action) : undefined;
    if (question.needs_signature) {
      setUnsigned(undefined);
      try {
        body.signature = await signAnswer(question, body, edited);
      } catch (error) {
        setUnsigned(error);
        setSending(false);
        sent.current = false;
        return;
      }
    }
    onSent();
    const entry = await sendAnswer(question, answersText(question, answers, text), body, edited);
    setSending(false);
    // The reader can repeat an answer that was refused or waits. Its draft stays, so that nothing typed is lost.
    if (entry.state !== 'accepted') sent.current = false;
  };

  return { values, other, comment, action, faults, doubt, sending, unsigned, change, changeOther, setComment, setAction, setDoubt, submit, check, complete };
}

export type AnswerState = ReturnType<typeof useAnswer>;

/** Returns why an answer must be confirmed. One key alone never sends a dangerous answer or one of high risk. */
export function confirmReasonOf(question: Question, values: Values): ConfirmReason | undefined {
  if (question.items.some((item) => picksDanger(item, values[keyOf(item)]))) return 'danger';
  const onlyRejects = question.type === 'approval' && Object.values(values).every((value) => value === 'reject');
  return isRisky(question) && !onlyRejects ? 'risk' : undefined;
}

const isRisky = ({ risk }: Question) => risk === 'high' || risk === 'critical';
