import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useLanguage } from '@/text/language';
import { shareOf, timeOf, type Summary } from './figures';
import classes from './Report.module.css';
import { useText } from './text';

/** Shows the main figures of the period. */
export function Tiles({ summary }: { summary: Summary }) {
  const text = useText();
  const language = useLanguage();
  const count = (n: number) => n.toLocaleString(language);
  const { time_to_answer: times, timeout_rate, reflex } = summary;
  return (
    <div className={classes.tiles}>
      <Tile label={text.median} n={times.n}>{timeOf(times.median_seconds)}</Tile>
      <Tile label={text.p90} n={times.n}>{timeOf(times.p90_seconds)}</Tile>
      <Tile label={text.timeoutRate} n={timeout_rate.n} about={text.timeoutAbout}>{shareOf(timeout_rate, language)}</Tile>
      <Tile label={text.reflex} n={reflex.n} about={text.reflexAbout}>{shareOf(reflex, language)}</Tile>
      <Tile label={text.asked} about={text.askedAbout}>{count(summary.asked)}</Tile>
      <Tile label={text.answered} about={text.answeredAbout}>{count(summary.answered)}</Tile>
      <Tile label={text.open} about={text.askedAbout}>{count(summary.pending)}</Tile>
    </div>
  );
}

function Tile({ label, n, about, children }: { label: string; n?: number; about?: string; children: ReactNode }) {
  const text = useText();
  const language = useLanguage();
  return (
    <Paper withBorder p="sm" component="section" aria-label={label}>
      <Text size="sm" fw={500}>{label}</Text>
      <div className={classes.figure}>{children}</div>
      <Text size="xs" c="dimmed">{[n !== undefined && text.n(n.toLocaleString(language)), about].filter(Boolean).join(' · ')}</Text>
    </Paper>
  );
}
