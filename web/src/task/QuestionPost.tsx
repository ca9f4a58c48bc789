import { Anchor, Group, Paper, Text } from '@mantine/core';
import { useFocusWithin } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { QuestionResolution } from '@/question/QuestionResolution';
import { TypeBadge } from '@/question/Badges';
import { QuestionView } from '@/question/QuestionView';
import { questionQuery } from '@/question/queries';
import type { Question } from '@/api/types';
import { KeysWhile } from '@/keys/useCommands';
import { Visible } from '@/text/Visible';
import { Icon } from '@/ui/Icon';
import { Markdown } from '@/ui/Markdown';
import type { Entry } from './api';
import { usePageText } from './pageText';
import { NewState, EntryTime } from './postParts';
import classes from './thread.module.css';
import { useNameOf } from './useNameOf';

/**
 * Shows a question at its place in the thread. The reader can answer it here while it is open. After that, it is shown
 * with its answer.
 */
export function QuestionPost({ entry, question }: { entry: Entry; question: Question }) {
  return question.status === 'pending' ? <OpenQuestion question={question} /> : <ClosedQuestion entry={entry} question={question} />;
}

function OpenQuestion({ question }: { question: Question }) {
  // This query returns who may answer, whether an answer is held and who voted. Live events keep it up to date.
  const { data = question } = useQuery(questionQuery(question.id));
  // The keys work only with the focus inside, because a key must not decide a question that is out of sight.
  const { ref, focused } = useFocusWithin();
  return (
    <Paper withBorder p="md" className={classes.open} id={`question-${question.id}`} tabIndex={-1} ref={ref}>
      <KeysWhile on={focused}><QuestionView question={data} onTaskPage /></KeysWhile>
    </Paper>
  );
}

function ClosedQuestion({ entry, question }: { entry: Entry; question: Question }) {
  const text = usePageText();
  const nameOf = useNameOf();
  return (
    <Paper withBorder p="sm" className={classes.agent}>
      <Group gap="xs" mb={4}>
        <Icon name="robot" size={16} />
        <Text size="sm"><b>{nameOf(entry.actor)}</b> {text.events['question.asked']}</Text>
        <TypeBadge type={question.type} />
        <NewState entry={entry} />
        <EntryTime at={entry.at} />
      </Group>
      <Anchor fw={600} underline="always" renderRoot={(props) => <Link to="/questions/$id" params={{ id: question.id }} {...props} />}><Visible text={question.title} /></Anchor>
      {question.body && <details className={classes.before}><summary>{text.description}</summary><Markdown text={question.body} /></details>}
      <div className={classes.ended}><QuestionResolution question={question} /></div>
    </Paper>
  );
}
