import { Alert, Anchor, Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from 'react';
import { whoamiQuery } from '@/api/queries';
import type { Question } from '@/api/types';
import { onOutbox, outbox } from '@/outbox/outbox';
import { ActionView, useHashCheck } from '@/preview/Action';
import { Code } from '@/preview/Code';
import { PreviewView } from '@/preview/Preview';
import { duration, useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { Icon } from '@/ui/Icon';
import { Markdown } from '@/ui/Markdown';
import { lazyComponent } from '@/ui/lazyComponent';
import { ProblemHints, useProblemWords } from '@/ui/problemWords';
import { useNow } from '@/ui/useNow';
import { AnswerForm } from './AnswerForm';
import { RiskBadge, StatusBadge, TypeBadge } from './Badges';
import { Announcements, Countdown } from './Countdown';
import { Deciders } from './Deciders';
import { Discussion } from './Discussion';
import { QuestionResolution, actorName } from './QuestionResolution';
import { fateOf } from './item';
import classes from './QuestionView.module.css';
import { approvalsOf, awaitsReader, mayAnswer, ownVote } from './queries';
import { SimilarQuestions } from './SimilarQuestions';
import { useText, type QuestionText } from './text';
import { SnoozedUntil } from './SnoozedUntil';
import { Tools } from './Tools';
import { useAnswer } from './useAnswer';

const QuestionDeliveries = lazyComponent(() => import('@/delivery/QuestionDeliveries').then((module) => module.default));

interface Props {
  question: Question;
  /** Called when the answer is on its way, to show the next question. */
  onSent?: () => void;
  /** Whether the heading takes the focus when the question appears. */
  focus?: boolean;
  /** Whether the question is the whole page, and its title the title of the page. */
  page?: boolean;
  /** Whether the question is on the page of its task, which already shows the project and the task. */
  onTaskPage?: boolean;
  /** What the page adds at the end. */
  children?: ReactNode;
}

/** Shows one question with everything that is needed to answer it. */
export function QuestionView({ question, onSent, focus, page, onTaskPage, children }: Props) {
  const text = useText();
  const [seen, setSeen] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const answer = useAnswer(question, onSent ?? (() => undefined));
  const hashCheck = useHashCheck(question.action_text, question.action_hash);
  const entry = useSyncExternalStore(onOutbox, () => outbox().find((each) => each.questionId === question.id));
  useEffect(() => {
    if (focus) heading.current?.focus({ preventScroll: true });
  }, [focus, question.id]);
  const pending = question.status === 'pending';
  const late = question.status === 'timed_out' && !question.resolution?.late?.length;
  const open = (pending && !question.held) || late;
  const busy = entry !== undefined && entry.state !== 'refused' && entry.state !== 'accepted';
  return (
    <Stack gap="md" className={classes.view} data-question data-page={page || undefined}>
      <header className={classes.plain}>
        <div className={classes.head}>
          <Group gap={6}>
            <TypeBadge type={question.type} />
            <RiskBadge risk={question.risk} />
            <StatusBadge question={question} />
            <Countdown question={question} />
          </Group>
          {pending && <Tools question={question} page={page} onLeave={onSent} />}
        </div>
        <Title order={page ? 1 : 2} size="h3" ref={heading} tabIndex={-1} className={classes.title}><Visible text={question.title} /></Title>
        <Facts question={question} onTaskPage={onTaskPage} />
        <Announcements deadline={pending ? question.deadline : undefined} />
      </header>
      {!pending && <QuestionResolution question={question} />}
      {pending && question.held && <Alert color="gray" icon={<Icon name="clock" />} role="status">{text.heldBy(question.held.by.name || text.you)}</Alert>}
      {pending && question.unreached && <Alert color="yellow" role="status">{text.unreached(question.unreached)}</Alert>}
      {entry && <OutboxStatus state={entry.state} problem={entry.problem} />}
      {pending && question.snoozed_until && <SnoozedUntil question={question} />}
      {question.action_text !== undefined && <ActionView action={question.action_text} hash={question.action_hash} hashCheck={hashCheck} fate={fateOf(question)} page={page} onSeen={() => setSeen(true)} />}
      <AgentWords question={question} page={page} />
      {pending && <Votes question={question} />}
      {pending && !mayAnswer(question) && <div><Text c="dimmed">{text.notYours}</Text><Deciders question={question.id} /></div>}
      {late && mayAnswer(question) && <Text size="sm">{text.lateOffer}</Text>}
      {open && awaitsReader(question) && !busy && (
        <AnswerForm question={question} answer={answer} hashCheck={question.action_text === undefined ? 'matches' : hashCheck} seen={seen} late={late} />
      )}
      {open && awaitsReader(question) && <SimilarQuestions question={question} answer={answer} page={page} />}
      <Discussion question={question} page={page} />
      {pending && <DeadlineNote question={question} />}
      {page && pending && mayAnswer(question) && <Deciders question={question.id} />}
      {page && !pending && (
        <Group><Button component="a" href={`/v1/questions/${question.id}/receipt`} download={`${question.id}.receipt.json`} variant="subtle" size="compact-sm" leftSection={<Icon name="download" />}>{text.receipt}</Button></Group>
      )}
      {children}
      {page && <Suspense fallback={null}><QuestionDeliveries question={question.id} /></Suspense>}
    </Stack>
  );
}

/** Returns the names of the assignees as people say them. */
const assigneeNames = (question: Question, text: QuestionText) => (question.assignees ?? []).map((each) => assigneeName(each, text)).join(', ');

function assigneeName(assignee: string, text: QuestionText): string {
  const [kind, name = ''] = assignee.split(':');
  return kind === 'group' ? text.groupOf(name) : kind === 'role' ? text.roleOf(name) : assignee;
}

function Facts({ question, onTaskPage }: { question: Question; onTaskPage?: boolean }) {
  const text = useText();
  const time = useTime();
  const now = useNow();
  const { data: me } = useQuery(whoamiQuery);
  return (
    <Group gap="xs" mt={4}>
      <Text size="sm" c="dimmed">{text.asked(actorName(question.asked_by, text, me?.name), time.relative(question.created_at, now))}</Text>
      {question.ask_count > 1 && <Badge size="sm" variant="default" tt="none">{text.askedTimes(question.ask_count)}</Badge>}
      {!onTaskPage && <Text size="sm" c="dimmed">{question.project}</Text>}
      {!onTaskPage && (
        <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/tasks/$id" params={{ id: question.task_id }} {...props} />}>
          {question.task_title && question.task_title !== question.title ? question.task_title : text.task}
        </Anchor>
      )}
      {question.assignees && question.assignees.length > 0 && <Text size="sm" c="dimmed">{text.assignees(assigneeNames(question, text))}</Text>}
      {question.waiting && question.waiting.tasks > 1 && <Text size="sm" c="dimmed">{text.waitingTasks(question.waiting.tasks, duration(now - Date.parse(question.waiting.since)))}</Text>}
    </Group>
  );
}

/** Shows the agent's own words, set apart from what will run. */
function AgentWords({ question, page }: { question: Question; page?: boolean }) {
  const text = useText();
  const { context } = question;
  if (!question.body && !context && question.confidence === undefined) return null;
  const words = (
    <Stack gap="sm">
      {question.body && <Markdown text={question.body} />}
      {context?.text && <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}><Visible text={context.text} /></Text>}
      {context?.step && <Text size="sm"><b>{text.step}:</b> <Visible text={context.step} /></Text>}
      {context?.error && <div><Text size="sm" fw={600} c="error">{text.errorDetails}</Text><Code text={context.error} label={text.errorDetails} /></div>}
      {context?.preview && <PreviewView preview={context.preview} />}
      {question.confidence !== undefined && <Text size="sm" c="dimmed">{text.confidence(question.confidence)}</Text>}
    </Stack>
  );
  if (question.action_text === undefined) return words;
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="agent-says">
      <Group gap="xs" mb="xs"><Icon name="robot" /><Title order={page ? 2 : 3} size="h5" id="agent-says">{text.says}</Title></Group>
      {words}
      <Text size="xs" c="dimmed" mt="xs">{text.saysNote}</Text>
    </Paper>
  );
}

function Votes({ question }: { question: Question }) {
  const text = useText();
  const needed = question.approvals?.required ?? 1;
  if (needed < 2) return null;
  const votes = question.votes ?? [];
  const own = ownVote(question);
  const missing = needed - approvalsOf(question);
  return (
    <div>
      {own && missing > 0 && <Text fw={600}>{text.voteStands(own.value === 'approve', missing, assigneeNames(question, text))}</Text>}
      <Text size="sm" fw={600}>{text.quorum(approvalsOf(question), needed)}</Text>
      {votes.map((vote) => <Text size="sm" key={vote.at}>{text.voted(vote.by.name || '', vote.value === 'approve' ? text.approved : text.rejected)}{vote.comment && ` – ${vote.comment}`}</Text>)}
    </div>
  );
}

/** Shows the deadline, and what happens when it passes. */
function DeadlineNote({ question }: { question: Question }) {
  const text = useText();
  const time = useTime();
  if (!question.deadline) return null;
  return <Text size="sm" c="dimmed">{text.deadlineAt(time.full(question.deadline))} {question.on_timeout && text[`then_${question.on_timeout}`]}</Text>;
}

function OutboxStatus({ state, problem }: { state: 'sending' | 'queued' | 'accepted' | 'refused'; problem?: { code: string; detail: string; hint?: string } }) {
  const text = useText();
  const wordsOf = useProblemWords();
  if (state === 'accepted') return null;
  const words = { sending: text.sending, queued: text.queued, refused: text.refused };
  const hint = problem && wordsOf({ code: problem.code, message: problem.detail, hint: problem.hint });
  return (
    <Alert color={state === 'refused' ? 'red' : 'gray'} role="status" title={words[state]}>
      {hint && <Text size="sm">{hint.title}</Text>}
      {hint && state === 'refused' && <ProblemHints words={hint} />}
    </Alert>
  );
}
