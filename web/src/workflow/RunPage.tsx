import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useFocusWithin } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useMemo, useRef } from 'react';
import { asProblem } from '@/api/problem';
import type { Question } from '@/api/types';
import { KeysWhile } from '@/keys/useCommands';
import { StatusBadge } from '@/question/Badges';
import { questionQuery } from '@/question/queries';
import { QuestionView } from '@/question/QuestionView';
import { taskQuery } from '@/task/api';
import { useLiveTasks } from '@/task/live';
import { StateBadge } from '@/task/StateBadge';
import taskClasses from '@/task/task.module.css';
import { duration, useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { BackLink } from '@/ui/BackLink';
import { Page } from '@/ui/Page';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useNow } from '@/ui/useNow';
import { Loading } from '@/ui/Loading';
import { runQuery, useLiveRun, workflowQuery } from './api';
import { isEnded, isRunEnded } from './filters';
import { GraphView } from './GraphView';
import { Json } from './Json';
import { anchorOf, childrenOf, openSteps, progressOf } from './progress';
import { MoveButton } from './MoveButton';
import { RunActions } from './RunActions';
import { useText, type WorkflowText } from './text';
import { Child, Timeline } from './Timeline';
import { durationText } from './durations';
import type { Run, Step } from './types';
import { useWide } from './useWide';
import { causeOf, causeWords, inputWords, reasonWords, titleOf } from './words';
import classes from './Workflow.module.css';

/** Shows one run of a workflow, step by step. */
export default function RunPage() {
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const text = useText();
  const { data, error, refetch } = useQuery(runQuery(id));
  if (error && asProblem(error).code === 'not_found') return <Page title={text.noSuchRun}><Link to="/workflow-runs">{text.allRuns}</Link></Page>;
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  return <OneRun key={data.id} run={data} />;
}

function OneRun({ run }: { run: Run }) {
  const text = useText();
  const time = useTime();
  const wide = useWide();
  const steps = useMemo(() => run.steps ?? [], [run.steps]);
  const progress = useMemo(() => progressOf(steps), [steps]);
  const failed = [...progress.values()].filter(({ step }) => step.state === 'failed').length;
  const children = childrenOf(run);
  useFocusAfter(run.pending_question?.id);
  useLiveRun([run.id, ...children]);
  useLiveTasks([run.id, ...children]);
  const toStep = (step: Step) => {
    const target = document.getElementById(anchorOf(step));
    target?.scrollIntoView({ block: 'center' });
    target?.focus({ preventScroll: true });
  };
  const graph = run.graph && <section><Title order={2} size="h5" mb="xs">{text.graph}</Title><GraphView graph={run.graph} label={text.graphOf(run.workflow)} progress={progress} ended={run.state === 'done'} onStep={toStep} /></section>;
  const timeline = <section><Title order={2} size="h5" mb="xs">{text.timeline}</Title><Timeline steps={steps} /></section>;
  return (
    <Page title={text.runOf(titleOf(run, time.full))} back={<BackLink to="/workflow-runs">{text.allRuns}</BackLink>} wide actions={<StateBadge state={run.state} />}>
      <Stack gap="lg">
        <Stack gap="sm">
          <WhoWaits run={run} failed={failed} />
          <RunCause run={run} />
          <Group gap="sm">
            <RunActions run={run} />
            <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/tasks/$id" params={{ id: run.id }} {...props} />}>{text.task}</Anchor>
            <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/workflows/$name" params={{ name: run.workflow }} {...props} />}>{text.workflow}: {run.workflow}</Anchor>
          </Group>
        </Stack>
        {run.pending_question && <RunQuestion key={run.pending_question.id} question={run.pending_question} />}
        {wide
          ? <div className={classes.two}><Stack gap="lg">{graph}<RunInputs run={run} /></Stack>{timeline}</div>
          : <>{graph}{timeline}<RunInputs run={run} /></>}
      </Stack>
    </Page>
  );
}

/**
 * Moves the focus to the result after an answer was given by keys. Otherwise the focus would be at the beginning of the
 * page.
 */
function useFocusAfter(question: string | undefined) {
  const before = useRef(question);
  useEffect(() => {
    if (before.current && before.current !== question && document.activeElement === document.body) {
      document.querySelector<HTMLElement>('[data-waiting]')?.focus({ preventScroll: true });
    }
    before.current = question;
  }, [question]);
}

/** Shows the question for which the run waits. The reader can answer it here. */
function RunQuestion({ question }: { question: Question }) {
  // This query returns who may answer and whether an answer is held. Live events keep it up to date.
  const { data = question } = useQuery(questionQuery(question.id));
  // The keys work only with the focus inside, because a key must not decide a question that is out of sight.
  const { ref, focused } = useFocusWithin();
  return (
    <Paper p="md" className={classes.question} id={`question-${question.id}`} tabIndex={-1} ref={ref}>
      <KeysWhile on={focused}><QuestionView question={data} onTaskPage /></KeysWhile>
    </Paper>
  );
}

/** Shows another question that the run asks at the same time, and where to answer it. */
function OtherQuestion({ id }: { id: string }) {
  const text = useText();
  const { data } = useQuery(questionQuery(id));
  const link = <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/questions/$id" params={{ id }} {...props} />}><Visible text={data?.title ?? id} /></Anchor>;
  return <Group gap="xs"><Text size="sm">{text.asksBeside}:</Text>{link}{data && <StatusBadge question={data} />}</Group>;
}

/** Shows in a sentence which people and tasks the run waits for, or how it ended. */
function WhoWaits({ run, failed }: { run: Run; failed: number }) {
  const text = useText();
  const time = useTime();
  const now = useNow();
  const { data: task } = useQuery(taskQuery(run.id));
  const waiting = openSteps(run);
  const before = run.state === 'blocked' && waiting.length === 0 ? (task?.blocked_by ?? []) : [];
  const needs = run.state === 'awaiting_input' || run.state === 'awaiting_approval';
  return (
    <div className={`${taskClasses.sentence ?? ''} ${classes.sentence ?? ''}`} data-needs={needs} data-state={run.state}>
      <Text data-waiting tabIndex={-1}>{sentence(run, text, now, (at) => text.waits.time(time.full(at), time.relative(at, now)), task?.defer_until)}</Text>
      {run.state === 'done' && failed > 0 && <Text size="sm">{text.passedOver(failed)}</Text>}
      {isRunEnded(run.state) && run.state !== 'done' && run.summary && <Text size="sm"><Visible text={run.summary} /></Text>}
      {waiting.map((step) => (step.question_id && step.question_id !== run.pending_question?.id ? <OtherQuestion key={step.question_id} id={step.question_id} /> : <Child key={step.child_id} id={step.child_id ?? ''} run={step.tool === 'workflow'} />))}
      {before.map((id) => <Child key={id} id={id} run />)}
    </div>
  );
}

function sentence(run: Run, text: WorkflowText, now: number, until: (at: string) => string, deferred: string | undefined): string {
  const { waits } = text;
  const at = run.steps?.find((step) => step.until && !isEnded(step.state))?.until ?? deferred;
  switch (run.state) {
    case 'awaiting_input':
    case 'awaiting_approval':
      return waits.person(run.pending_question?.title ?? '', duration(now - Date.parse(run.pending_question?.created_at ?? run.updated_at)));
    case 'blocked': {
      const answers = openSteps(run).filter((step) => step.question_id).length;
      const tasks = openSteps(run).length - answers;
      return [answers > 0 && waits.answers(answers), tasks > 0 && waits.tasks(tasks)].filter(Boolean).join(' ') || waits.queued;
    }
    case 'deferred':
      return at ? until(at) : waits.deferred;
    case 'in_progress':
      return run.step ? waits.running(run.step) : waits.soon;
    case 'open':
    case 'input_received':
      return waits.soon;
    case 'done':
      return waits.done(durationText(Date.parse(run.ended_at ?? run.updated_at) - Date.parse(run.created_at)));
    default:
      // The summary of the run gives the reason. It is shown below.
      return [waits[run.state], !(run.summary && run.reason === 'step_failed') && reasonWords(run.reason, text)].filter(Boolean).join(' ');
  }
}

/** Shows who or what started the run. */
function RunCause({ run }: { run: Run }) {
  const text = useText();
  const time = useTime();
  const cause = causeOf(run);
  const parent = run.trigger === 'workflow' ? (run.parent_id ?? cause('run')) : '';
  return (
    <Group gap="4px 12px" data-trigger={run.trigger}>
      <Text size="sm"><Visible text={causeWords(run, text, time.full)} /> <Text span size="sm" c="dimmed"><time dateTime={run.created_at}>{time.full(run.created_at)}</time></Text></Text>
      {parent && <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/workflow-runs/$id" params={{ id: parent }} {...props} />}>{text.openParent}</Anchor>}
      {run.trigger === 'event' && cause('task_id') && <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/tasks/$id" params={{ id: cause('task_id') }} {...props} />}>{text.openEventTask}</Anchor>}
    </Group>
  );
}

/** Shows the inputs of the run, and which definition it follows. */
function RunInputs({ run }: { run: Run }) {
  const text = useText();
  const { data: workflow } = useQuery(workflowQuery(run.workflow));
  const isOld = workflow !== undefined && workflow.hash !== run.hash;
  return (
    <section>
      <Title order={2} size="h5" mb="xs">{text.given}</Title>
      <Stack gap={6}>
        {inputWords(run.inputs) ? <Json label={text.withInputs} value={run.inputs} open /> : <Text size="sm" c="dimmed">{text.nothingGiven}</Text>}
        {run.trigger !== 'manual' && <Json label={text.cause} value={run.cause} />}
        <Text size="sm" c="dimmed">{text.ranVersion(run.hash.slice(0, 8))}{isOld && ` ${text.oldVersion}`}</Text>
        {isOld && <MoveButton run={run} />}
        <Text size="sm" c="dimmed">{text.project}: {run.project}</Text>
      </Stack>
    </section>
  );
}
