import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { useLanguage } from '@/text/language';
import { shareOf, timeOf, type AnswerFigures, type Figures, type Share } from './figures';
import classes from './Report.module.css';
import { useText } from './text';

interface Row<F> {
  key: string;
  label: ReactNode;
  figures: F;
}

interface Props {
  title: string;
  /** The heading of the first column. */
  first: string;
}

/** Shows a share and the number that it is a part of. */
function Part({ share }: { share: Share }) {
  const text = useText();
  const language = useLanguage();
  return <>{shareOf(share, language)} <span className={classes.n}>{text.n(share.n.toLocaleString(language))}</span></>;
}

function Answers({ figures: { time_to_answer: times, reflex } }: { figures: AnswerFigures }) {
  const text = useText();
  const language = useLanguage();
  return (
    <>
      <Table.Td>{timeOf(times.median_seconds)}</Table.Td>
      <Table.Td>{timeOf(times.p90_seconds)} <span className={classes.n}>{text.n(times.n.toLocaleString(language))}</span></Table.Td>
      <Table.Td><Part share={reflex} /></Table.Td>
    </>
  );
}

function Scrolled({ title, children }: { title: string; children: ReactNode }) {
  const text = useText();
  return (
    <div className={classes.scroll} role="region" aria-label={text.table(title)} tabIndex={0}>
      <Table className={classes.table} striped fz="sm">{children}</Table>
    </div>
  );
}

/** Shows how questions ended, as a table. */
export function FigureTable({ title, first, rows }: Props & { rows: Row<Figures>[] }) {
  const text = useText();
  const language = useLanguage();
  const heads = [first, text.asked, text.answered, text.byRuleShort, text.timedOut, text.withdrawn, text.open, text.timeoutShort, text.medianShort, text.p90Short, text.reflexShort];
  return (
    <Scrolled title={title}>
      <Table.Thead><Table.Tr>{heads.map((head) => <Table.Th key={head} scope="col">{head}</Table.Th>)}</Table.Tr></Table.Thead>
      <Table.Tbody>
        {rows.map(({ key, label, figures }) => (
          <Table.Tr key={key}>
            <Table.Th scope="row">{label}</Table.Th>
            {[figures.asked, figures.answered, figures.by_rule, figures.timed_out, figures.cancelled, figures.pending].map((n, at) => <Table.Td key={at}>{n.toLocaleString(language)}</Table.Td>)}
            <Table.Td><Part share={figures.timeout_rate} /></Table.Td>
            <Answers figures={figures} />
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Scrolled>
  );
}

/** Shows how many answers came and how long they took, as a table. */
export function AnswerTable({ title, first, rows }: Props & { rows: Row<AnswerFigures>[] }) {
  const text = useText();
  const language = useLanguage();
  return (
    <Scrolled title={title}>
      <Table.Thead>
        <Table.Tr>{[first, text.answered, text.medianShort, text.p90Short, text.reflexShort].map((head) => <Table.Th key={head} scope="col">{head}</Table.Th>)}</Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(({ key, label, figures }) => (
          <Table.Tr key={key}>
            <Table.Th scope="row">{label}</Table.Th>
            <Table.Td>{figures.answered.toLocaleString(language)}</Table.Td>
            <Answers figures={figures} />
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Scrolled>
  );
}
