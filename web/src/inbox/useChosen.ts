import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Question } from '@/api/types';
import { questionsOf, type Row } from './alike';

/** Holds the questions that the reader has chosen to treat together. */
export function useChosen(rows: readonly Row[], questions: readonly Question[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const anchor = useRef<Row>(undefined);
  const latest = useRef(rows);
  useEffect(() => {
    latest.current = rows;
  });
  /** Chooses a row or takes it out. With a range, all rows between the last one and this one are chosen. */
  const choose = useCallback((row: Row, range: boolean) => {
    const from = anchor.current ? latest.current.findIndex(({ question }) => question.id === anchor.current?.question.id) : -1;
    const to = latest.current.indexOf(row);
    anchor.current = row;
    const among = range && from >= 0 && to >= 0 ? latest.current.slice(Math.min(from, to), Math.max(from, to) + 1) : [row];
    const touched = among.flatMap(questionsOf).map(({ id }) => id);
    setIds((before) => {
      const takesOut = among.length === 1 && !range && touched.every((id) => before.has(id));
      return takesOut ? new Set([...before].filter((id) => !touched.includes(id))) : new Set([...before, ...touched]);
    });
  }, []);
  const chooseAll = useCallback((all: readonly Question[]) => setIds(new Set(all.map(({ id }) => id))), []);
  const clear = useCallback(() => setIds(new Set()), []);
  const chosen = useMemo(() => questions.filter(({ id }) => ids.has(id)), [questions, ids]);
  return { chosen, ids, choose, chooseAll, clear };
}
