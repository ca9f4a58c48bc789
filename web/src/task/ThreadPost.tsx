import { Badge, Box, Group, Paper, Progress, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { answersText } from '@/question/item';
import { useText as useQuestionText } from '@/question/text';
import { useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { Icon, type IconName } from '@/ui/Icon';
import { Markdown } from '@/ui/Markdown';
import type { Entry } from './api';
import { usePageText, type PageText } from './pageText';
import { NewState, EntryTime } from './postParts';
import { QuestionPost } from './QuestionPost';
import type { Post } from './thread';
import classes from './thread.module.css';
import { useNameOf } from './useNameOf';
import { reasonOf } from './waiting';
import { useWaitingText } from './waitingText';

type Questions = ReadonlyMap<string, NonNullable<Entry['question']>>;

/** Shows one post of the thread. */
export const ThreadPost = memo(function ThreadPost({ post, questions }: { post: Post; questions: Questions }) {
  if (post.kind === 'progress') return <ProgressPost last={post.last} before={post.before} />;
  const { entry } = post;
  if (entry.kind === 'message' && entry.message) return <MessagePost entry={entry} />;
  if (entry.type === 'question.asked' && entry.question) return <QuestionPost entry={entry} question={entry.question} />;
  if (entry.resolution) return <ResolutionPost entry={entry} question={questions.get(entry.question_id ?? '')} />;
  return <EventPost entry={entry} />;
});

function MessagePost({ entry }: { entry: Entry }) {
  const text = usePageText();
  const times = useTime();
  const nameOf = useNameOf();
  const message = entry.message;
  if (!message) return null;
  const human = message.author.kind === 'human';
  return (
    <Paper withBorder p="sm" className={human ? classes.person : classes.agent}>
      <Group gap="xs" mb={4}>
        <Icon name={human ? 'person' : 'robot'} size={16} />
        <Text size="sm" fw={600}>{nameOf(message.author)}</Text>
        {message.kind === 'clarification' && <Badge size="sm" variant="default" tt="none">{text.clarification}</Badge>}
        {message.cancels && <Badge size="sm" variant="default" tt="none">{text.cancels}</Badge>}
        <EntryTime at={entry.at} />
      </Group>
      <Markdown text={message.body} />
      {message.receipt && <Text size="xs" c="dimmed" mt={4} data-receipt={message.receipt}>{text.receipts[message.receipt](message.handed_at ? times.full(message.handed_at) : '')}</Text>}
    </Paper>
  );
}

/** Shows a minor event on one line. */
function Line({ icon, entry, children }: { icon: IconName; entry: Entry; children: React.ReactNode }) {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start" className={classes.line}>
      <span className={classes.dot}><Icon name={icon} size={14} /></span>
      <Box flex={1} miw={0}>{children} <EntryTime at={entry.at} /></Box>
    </Group>
  );
}

function ProgressPost({ last, before }: { last: Entry; before: Entry[] }) {
  const text = usePageText();
  return (
    <>
      {before.length > 0 && (
        <details className={classes.before}>
          <summary>{text.moreProgress(before.length)}</summary>
          {before.map((entry) => <Report key={entry.seq} entry={entry} />)}
        </details>
      )}
      <Report entry={last} bar />
    </>
  );
}

function Report({ entry, bar }: { entry: Entry; bar?: boolean }) {
  const { progress } = entry;
  if (!progress) return null;
  const { current, total } = progress;
  return (
    <Line icon="chart" entry={entry}>
      <Text span size="sm">{progress.step && <b><Visible text={progress.step} />: </b>}<Visible text={progress.message} /></Text>
      {bar && current !== undefined && total !== undefined && total > 0 && (
        <Group gap="xs" wrap="nowrap" my={4}>
          <Progress.Root size="md" flex={1}><Progress.Section value={Math.min(100, (current / total) * 100)} aria-label={progress.step || progress.message} /></Progress.Root>
          <Text size="xs" c="dimmed" flex="none">{current} / {total}</Text>
        </Group>
      )}
    </Line>
  );
}

/** Shows how a question ended, at the place of its end in the thread. */
function ResolutionPost({ entry, question }: { entry: Entry; question: Entry['question'] }) {
  const text = usePageText();
  const words = useQuestionText();
  const nameOf = useNameOf();
  const r = entry.resolution;
  if (!r) return null;
  const byTime = r.status === 'timed_out';
  const answer = question ? answersText(question, r.answers, words) : Object.values(r.answers ?? {}).map(String).join(', ');
  return (
    <Line icon={byTime ? 'clock' : r.status === 'answered' ? 'check' : 'undo'} entry={entry}>
      <Text span size="sm">
        {byTime ? text.events['question.timed_out'] : <><b>{nameOf(entry.actor)}</b> {wordsOf(entry, text)}</>}
        {r.answers && <>: <b><Visible text={answer} /></b></>}
        {byTime && r.outcome === 'default' && ` (${text.toDefault})`}
        {r.comment && <> – <Visible text={r.comment} /></>}
      </Text>
      {question && <Text size="xs" c="dimmed"><Visible text={question.title} /></Text>}
      <NewState entry={entry} />
    </Line>
  );
}

const icons: Partial<Record<Entry['kind'], IconName>> = { run: 'robot', task: 'tasks', question: 'person' };

const endsRun = ['run.finished', 'run.lost', 'run.released'];

function EventPost({ entry }: { entry: Entry }) {
  const text = usePageText();
  const reasons = useWaitingText();
  const nameOf = useNameOf();
  const { run } = entry;
  const alone = entry.type === 'run.lost';
  return (
    <Line icon={icons[entry.kind] ?? 'next'} entry={entry}>
      <Text span size="sm">
        {!alone && <b>{run?.worker ?? nameOf(entry.actor)}</b>} {wordsOf(entry, text)}
        {run && <> · {entry.type === 'task.claimed' ? <Link to="." search={(now) => ({ ...now, part: 'log', run: run.id })}>{text.attempt(run.attempt)}</Link> : text.attempt(run.attempt)}</>}
        {entry.type === 'run.finished' && run?.result && `: ${(text.results as Record<string, string>)[run.result] ?? run.result}`}
        {entry.reason && <> – <Visible text={reasonOf(entry.reason, reasons)} /></>}
      </Text>
      {endsRun.includes(entry.type) && run?.summary && <Text size="sm" className={classes.summary}><Visible text={run.summary} /></Text>}
      <NewState entry={entry} />
    </Line>
  );
}

function wordsOf(entry: Entry, text: PageText): string {
  const known: Partial<Record<Entry['type'], string>> = text.events;
  return known[entry.type] ?? entry.type;
}
