import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo, useMemo, type MouseEvent } from 'react';
import type { Question } from '@/api/types';
import { readableOf, subjectOf } from '@/preview/shape';
import { RiskText, TypeIcon } from '@/question/Badges';
import { Countdown } from '@/question/Countdown';
import { countsOf, taskAndProjectOf } from '@/question/facts';
import { answersText } from '@/question/item';
import { useText as useQuestionText, type QuestionText } from '@/question/text';
import { useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { Icon } from '@/ui/Icon';
import { useNow } from '@/ui/useNow';
import classes from './Row.module.css';
import type { InboxOrder } from './sections';
import { useText } from './text';

/** The priority of a task that names none. */
const usualPriority = 2;

interface Props {
  question: Question;
  order: InboxOrder;
  selected: boolean;
  /** Whether the reader has just answered the question. */
  gone: boolean;
  onOpen: (id: string, event: MouseEvent) => void;
}

/** Shows a question in the list on two lines: its title, then what presses, who asks and what for. */
export const Row = memo(function Row({ question, order, selected, gone, onOpen }: Props) {
  const ended = gone || question.status !== 'pending';
  return (
    <Link
      to="/questions/$id" params={{ id: question.id }} className={classes.row} data-row={question.id} data-done={ended || undefined}
      aria-current={selected ? 'true' : undefined} onClick={(event) => onOpen(question.id, event)} preload={false}
    >
      <span className={classes.sign}><TypeIcon type={question.type} /></span>
      <span className={classes.title}><Visible text={question.title} /></span>
      <span className={classes.line}>{ended ? <Ending question={question} /> : <Facts question={question} order={order} />}</span>
    </Link>
  );
});

function Ending({ question }: { question: Question }) {
  const text = useText();
  const words = useQuestionText();
  const answers = question.resolution?.answers;
  return (
    <Text span size="xs" truncate>
      <Icon name="check" size={12} /> {question.status === 'pending' ? text.done : words[`status_${question.status}`]}{answers && `: ${answersText(question, answers, words)}`}
    </Text>
  );
}

/** Shows what presses, who asks and what for. A narrow list cuts the end of the line off, so what the action is about comes last. */
function Facts({ question, order }: { question: Question; order: InboxOrder }) {
  const text = useText();
  const words = useQuestionText();
  const time = useTime();
  const now = useNow();
  const subject = useMemo(() => (question.action_text === undefined ? undefined : subjectOf(readableOf(question.action_text).shape)), [question.action_text]);
  const facts = [...leadingFacts(question, order, text, words), time.relative(question.created_at, now)];
  return (
    <>
      <RiskText risk={question.risk} />
      {question.deadline && <Countdown question={question} brief />}
      {question.priority !== usualPriority && <span className={classes.priority} title={text.priorityHint(question.priority)}>{text.priorityShort(question.priority)}</span>}
      <Text span size="xs" c="dimmed" truncate className={subject ? classes.facts : undefined}><Visible text={facts.join(' · ')} /></Text>
      {subject && <Text span ff="monospace" className={classes.subject}><Visible text={subject} strict /></Text>}
    </>
  );
}

function leadingFacts(question: Question, order: InboxOrder, text: ReturnType<typeof useText>, words: QuestionText): string[] {
  const waiting = question.waiting?.tasks ?? 0;
  const [task, project] = [taskAndProjectOf({ ...question, project: '' }), order === 'project' ? '' : question.project];
  const facts = [...countsOf(question, words), question.agent || question.asked_by.name, ...task, project, waiting > 1 && text.waits(waiting)];
  return facts.filter((fact): fact is string => Boolean(fact));
}
