import { useEffect, useLayoutEffect, useRef, useState, type MouseEvent } from 'react';
import type { Question } from '@/api/types';
import { usePreference } from '@/shell/preferences';
import classes from './List.module.css';
import { Row } from './Row';
import { useText } from './text';

/** The number of rows that are rendered above and below the visible ones. */
const overscan = 8;

interface Props {
  questions: Question[];
  gone: ReadonlySet<string>;
  selected?: string;
  more: boolean;
  onMore: () => void;
  onOpen: (id: string, event: MouseEvent) => void;
}

/**
 * Shows the list. Only the rows near the visible ones are rendered, however
 * many there are. All rows have the same height, so finding them needs no
 * library.
 */
export function List({ questions, gone, selected, more, onMore, onOpen }: Props) {
  const text = useText();
  const [density] = usePreference('density');
  const scroller = useRef<HTMLDivElement>(null);
  const height = density === 'compact' ? 56 : 68;
  const [view, setView] = useState({ top: 0, height: 900 });
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const look = () => setView({ top: box.scrollTop, height: box.clientHeight });
    const size = new ResizeObserver(look);
    size.observe(box);
    box.addEventListener('scroll', look, { passive: true });
    return () => {
      size.disconnect();
      box.removeEventListener('scroll', look);
    };
  }, []);
  const first = Math.max(0, Math.floor(view.top / height) - overscan);
  const last = Math.min(questions.length, Math.ceil((view.top + view.height) / height) + overscan);
  useEffect(() => {
    if (more && last >= questions.length - 40) onMore();
  }, [last, more, onMore, questions.length]);
  const at = selected === undefined ? -1 : questions.findIndex((question) => question.id === selected);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box || at < 0) return;
    const [top, bottom] = [at * height, (at + 1) * height];
    if (top < box.scrollTop) box.scrollTop = top;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  }, [at, height]);
  return (
    <div ref={scroller} className={classes.list} data-scroller>
      <ul className={classes.rows} style={{ height: questions.length * height }} aria-label={text.list}>
        {questions.slice(first, last).map((question, n) => (
          <li key={question.id} className={classes.item} style={{ height, transform: `translateY(${(first + n) * height}px)` }} aria-setsize={more ? -1 : questions.length} aria-posinset={first + n + 1}>
            <Row question={question} selected={question.id === selected} gone={gone.has(question.id)} onOpen={onOpen} />
          </li>
        ))}
      </ul>
    </div>
  );
}
