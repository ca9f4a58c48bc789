import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState, type MouseEvent } from 'react';
import { usePreference } from '@/shell/preferences';
import { Visible } from '@/text/Visible';
import classes from './List.module.css';
import { Row } from './Row';
import { questionsOf, type Row as ListRow } from './alike';
import { headingOf, layOut, type InboxOrder, type Section } from './sections';
import { useText } from './text';

/** The number of rows that are rendered above and below the visible ones. */
const overscan = 8;

/** The heights in pixels. On a narrow screen, rows are large enough for a finger. */
const headingHeight = 30;
const rowHeights = { wide: { comfortable: 48, compact: 36 }, narrow: { comfortable: 56, compact: 46 } };

interface Props {
  sections: Section[];
  gone: ReadonlySet<string>;
  order: InboxOrder;
  /** The row that is open beside the list. */
  selected?: ListRow;
  /** The ids of the questions that the reader has chosen to treat together. */
  chosen: ReadonlySet<string>;
  more: boolean;
  onMore: () => void;
  onOpen: (row: ListRow, event: MouseEvent) => void;
  /** Called when the reader chooses a row or takes it out, and whether all rows from the last one on go with it. */
  onChoose: (row: ListRow, range: boolean) => void;
}

/**
 * Shows the list under the headings of its sections. Only the rows near the visible ones are rendered, however many there
 * are. All rows have the same height, so finding them needs no library.
 */
export function List({ sections, gone, order, selected, chosen, more, onMore, onOpen, onChoose }: Props) {
  const [density] = usePreference('density');
  const wide = useMediaQuery('(min-width: 1100px)', true, { getInitialValueInEffect: false });
  const scroller = useRef<HTMLDivElement>(null);
  const height = rowHeights[wide ? 'wide' : 'narrow'][density];
  // A list that has only the last section needs no heading.
  const heading = order !== 'inbox' || sections.some((section) => section.key !== 'rest') ? headingHeight : 0;
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
  const { parts, end } = useMemo(() => layOut(sections, heading, height), [sections, heading, height]);
  const isNearEnd = end - view.top - view.height < 40 * height;
  useEffect(() => {
    if (more && isNearEnd) onMore();
  }, [isNearEnd, more, onMore, sections]);
  const selectedTop = useMemo(() => {
    for (const { section, top } of parts) {
      const at = selected ? section.rows.indexOf(selected) : -1;
      if (at >= 0) return top + at * height;
    }
    return undefined;
  }, [parts, selected, height]);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box || selectedTop === undefined) return;
    // A heading stays at the top of the list and covers what is below it.
    if (selectedTop - heading < box.scrollTop) box.scrollTop = selectedTop - heading;
    else if (selectedTop + height > box.scrollTop + box.clientHeight) box.scrollTop = selectedTop + height - box.clientHeight;
  }, [selectedTop, heading, height]);
  return (
    <div ref={scroller} className={classes.list} data-scroller>
      {parts.map(({ section, top }, n) => (
        <SectionRows
          key={`${n} ${section.key}`} section={section} order={order} gone={gone} selected={selected} chosen={chosen} more={more && n === parts.length - 1} onOpen={onOpen} onChoose={onChoose}
          heading={heading > 0} height={height} first={Math.floor((view.top - top) / height) - overscan} last={Math.ceil((view.top + view.height - top) / height) + overscan}
        />
      ))}
    </div>
  );
}

interface SectionProps extends Pick<Props, 'gone' | 'order' | 'selected' | 'chosen' | 'more' | 'onOpen' | 'onChoose'> {
  section: Section;
  /** Whether the heading is shown. */
  heading: boolean;
  height: number;
  /** The rows from first up to last are rendered. Both may be outside of the section. */
  first: number;
  last: number;
}

function SectionRows({ section, order, gone, selected, chosen, more, onOpen, onChoose, heading, height, first, last }: SectionProps) {
  const text = useText();
  const id = useId();
  const { questions, rows } = section;
  const waiting = useMemo(() => questions.filter((question) => question.status === 'pending' && !gone.has(question.id)).length, [questions, gone]);
  const from = Math.max(0, first);
  return (
    <div>
      {heading && (
        <h2 id={id} className={classes.heading} style={{ height: headingHeight }}>
          <Visible text={headingOf(section, order, text)} /> <span className={classes.count}>{waiting}{more ? '+' : ''}</span>
        </h2>
      )}
      <ul className={classes.rows} style={{ height: rows.length * height }} aria-label={heading ? undefined : text.list} aria-labelledby={heading ? id : undefined}>
        {rows.slice(from, Math.max(from, last)).map((row, n) => (
          <li key={row.question.id} className={classes.item} style={{ height, transform: `translateY(${(from + n) * height}px)` }} aria-setsize={more ? -1 : rows.length} aria-posinset={from + n + 1}>
            <Row
              row={row} order={order} selected={row === selected} waiting={questionsOf(row).filter((question) => question.status === 'pending' && !gone.has(question.id)).length}
              chosen={questionsOf(row).every(({ id }) => chosen.has(id))} choosing={chosen.size > 0} onOpen={onOpen} onChoose={onChoose}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}
