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
import hiddenClasses from '@/ui/Hidden.module.css';
import { Icon } from '@/ui/Icon';
import { useNow } from '@/ui/useNow';
import classes from './Row.module.css';
import type { Row as ListRow } from './alike';
import type { InboxOrder } from './sections';
import { useText } from './text';

/** The priority of a task that names none. */
const usualPriority = 2;

interface Props {
  row: ListRow;
  order: InboxOrder;
  selected: boolean;
  /** How many questions of the row wait for an answer. */
  waiting: number;
  /** Whether the reader has chosen the row to treat it together with others. */
  chosen: boolean;
  /** Whether the reader has chosen any row. */
  choosing: boolean;
  onOpen: (row: ListRow, event: MouseEvent) => void;
  onChoose: (row: ListRow, range: boolean) => void;
}

/**
 * Shows a question in the list, or several alike ones, on two lines: the title, then what presses, who asks and what for. The
 * sign of the type is also the box that chooses the row.
 */
export const Row = memo(function Row({ row, order, selected, waiting, chosen, choosing, onOpen, onChoose }: Props) {
  const text = useText();
  const words = useQuestionText();
  const { question, alike } = row;
  return (
    <div className={classes.row} data-selected={selected || undefined} data-chosen={chosen || undefined}>
      <label className={classes.choose} data-choosing={choosing || undefined}>
        <span className={classes.sign}><TypeIcon type={question.type} /></span>
        <input type="checkbox" tabIndex={-1} checked={chosen} aria-label={text.chooseRow(question.title)} onClick={(event) => onChoose(row, event.shiftKey)} onChange={() => undefined} />
      </label>
      <a
        href={`/questions/${question.id}`} className={classes.link} data-row={question.id} data-done={waiting === 0 || undefined} aria-current={selected ? 'true' : undefined}
        onClick={(event) => onOpen(row, event)}
      >
        <span className={hiddenClasses.hidden}>{words[`type_${question.type}`]}: </span>
        <span className={classes.title}><Visible text={question.title} />{alike && <span className={classes.times}>{` ×${waiting || alike.length}`}</span>}</span>
        <span className={classes.line}>{waiting === 0 ? <Ending question={question} /> : <Facts question={question} order={order} isSeveral={alike !== undefined} />}</span>
      </a>
    </div>
  );
});

function Ending({ question }: { question: Question }) {
  const text = useText();
  const words = useQuestionText();
  const answers = question.resolution?.answers;
  return (
    <span className={classes.ending}>
      <Icon name="check" size={12} /> {question.status === 'pending' ? text.done : words[`status_${question.status}`]}{answers && `: ${answersText(question, answers, words)}`}
    </span>
  );
}

/** Shows what presses, who asks and what for. A narrow list cuts the end of the line off, so what the action is about comes last. */
function Facts({ question, order, isSeveral }: { question: Question; order: InboxOrder; isSeveral: boolean }) {
  const text = useText();
  const words = useQuestionText();
  const time = useTime();
  const now = useNow();
  const subject = useMemo(() => (question.action_text === undefined || isSeveral ? undefined : subjectOf(readableOf(question.action_text).shape)), [question.action_text, isSeveral]);
  const facts = [...leadingFacts(question, order, text, words), time.relative(question.created_at, now)];
  return (
    <>
      <RiskText risk={question.risk} />
      {question.deadline && <Countdown question={question} brief />}
      {question.priority !== usualPriority && <span className={classes.priority} title={text.priorityHint(question.priority)}>{text.priorityShort(question.priority)}</span>}
      <span className={classes.facts} data-beside={subject !== undefined || undefined}><Visible text={facts.join(' · ')} /></span>
      {subject && <span className={classes.subject}><Visible text={subject} strict /></span>}
    </>
  );
}

function leadingFacts(question: Question, order: InboxOrder, text: ReturnType<typeof useText>, words: QuestionText): string[] {
  const waiting = question.waiting?.tasks ?? 0;
  const [task, project] = [taskAndProjectOf({ ...question, project: '' }), order === 'project' ? '' : question.project];
  const facts = [...countsOf(question, words), question.agent || question.asked_by.name, ...task, project, waiting > 1 && text.waits(waiting)];
  return facts.filter((fact): fact is string => Boolean(fact));
}
