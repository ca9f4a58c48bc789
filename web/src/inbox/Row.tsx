import { Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo, type MouseEvent } from 'react';
import type { Question } from '@/api/types';
import { RiskBadge, TypeBadge } from '@/question/Badges';
import { Countdown } from '@/question/Countdown';
import { factsOf } from '@/question/facts';
import { answersText } from '@/question/item';
import { useText as useQuestionText, type QuestionText } from '@/question/text';
import { Visible } from '@/text/Visible';
import { Icon } from '@/ui/Icon';
import classes from './Row.module.css';
import { useText } from './text';

interface Props {
  question: Question;
  selected: boolean;
  /** Whether the reader has just answered the question. */
  gone: boolean;
  onOpen: (id: string, event: MouseEvent) => void;
}

/** Returns the facts of a question as one line. The least important stand last, because a narrow row cuts them off. */
function facts(question: Question, text: ReturnType<typeof useText>, words: QuestionText): string {
  const waiting = question.waiting?.tasks ?? 0;
  return [factsOf(question, words), waiting > 1 && text.waits(waiting)].filter(Boolean).join(' · ');
}

/** Shows a question in the list: its title, its urgency and the time left. */
export const Row = memo(function Row({ question, selected, gone, onOpen }: Props) {
  const text = useText();
  const words = useQuestionText();
  const ended = question.status !== 'pending';
  return (
    <Link
      to="/questions/$id" params={{ id: question.id }} className={classes.row} data-row={question.id} data-done={gone || ended || undefined}
      aria-current={selected ? 'true' : undefined} onClick={(event) => onOpen(question.id, event)} preload={false}
    >
      <Text fw={600} size="sm" className={classes.title}><Visible text={question.title} /></Text>
      <Group gap={6} wrap="nowrap" className={classes.facts}>
        {ended || gone ? (
          <Text size="xs" truncate><Icon name="check" size={12} /> {ended ? words[`status_${question.status}`] : text.done}{question.resolution?.answers && `: ${answersText(question, question.resolution.answers, words)}`}</Text>
        ) : (
          <>
            <TypeBadge type={question.type} />
            <RiskBadge risk={question.risk} />
            <Countdown question={question} brief />
            <Text size="xs" c="dimmed" truncate className={classes.project}><Visible text={facts(question, text, words)} /></Text>
          </>
        )}
      </Group>
    </Link>
  );
});
