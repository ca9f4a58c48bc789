import { Anchor, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { taskQuery } from '@/task/api';
import { NoWorker } from '@/task/NoWorker';
import { StateBadge } from '@/task/StateBadge';
import { waitingSentence } from '@/task/waiting';
import { useWaitingText } from '@/task/waitingText';
import { useLanguage } from '@/text/language';
import { useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { useNow } from '@/ui/useNow';
import { useProblemWords } from '@/ui/problemWords';
import { Facts } from './Facts';
import { Json } from './Json';
import { Name } from './Name';
import { anchorOf, countOf, entriesOf, type Entry } from './progress';
import { shownStateOf, StepBadge } from './StepBadge';
import { useText } from './text';
import { stepDurationText, useItemsWords } from './durations';
import type { Step } from './types';
import classes from './Workflow.module.css';

/** Shows every step that a run reached, in the order in which they began. */
export function Timeline({ steps }: { steps: readonly Step[] }) {
  const text = useText();
  const entries = entriesOf(steps);
  if (entries.length === 0) return <Text size="sm" c="dimmed">{text.noSteps}</Text>;
  return (
    <ol className={classes.timeline} aria-label={text.timeline}>
      {entries.map((entry) => <StepItem key={anchorOf(entry.step)} entry={entry} />)}
    </ol>
  );
}

function StepItem({ entry: { step, items } }: { entry: Entry }) {
  const itemsWords = useItemsWords();
  return (
    <li className={classes.step} id={anchorOf(step)} tabIndex={-1} data-step={step.step} data-occurrence={step.occurrence} data-stand={shownStateOf(step)}>
      <StepFacts step={step} name={<Text span fw={600} ff="monospace" size="sm"><Name text={step.step} /></Text>} />
      {items.length > 0 && (
        <details className={classes.items} open={items.length <= 5}>
          <summary><Text span size="sm">{itemsWords(countOf(items))}</Text></summary>
          <ol className={classes.timeline}>
            {items.map((item) => <li key={item.item} className={classes.step} data-stand={shownStateOf(item)}><ItemFacts item={item} /></li>)}
          </ol>
        </details>
      )}
    </li>
  );
}

function ItemFacts({ item }: { item: Step }) {
  const text = useText();
  return <StepFacts step={item} name={<Text span fw={600} size="sm">{text.item(item.item ?? 0)}</Text>} />;
}

function StepFacts({ step, name }: { step: Step; name: React.ReactNode }) {
  const text = useText();
  const time = useTime();
  const now = useNow();
  const facts = [
    step.item === undefined && step.tool, step.occurrence > 1 && text.occurrence(step.occurrence), step.attempt > 1 && text.attempt(step.attempt),
    step.state !== 'skipped' && time.full(step.started_at), stepDurationText(step, now), step.until && text.until(time.relative(step.until, now)),
  ];
  return (
    <Stack gap={6}>
      <Group gap="xs"><StepBadge step={step} />{name}<Text size="xs" c="dimmed"><Facts all={facts} /></Text></Group>
      {step.note && <Text size="sm"><Visible text={step.note} /></Text>}
      {step.error && <Failure error={step.error} />}
      {step.question_id && <Anchor size="sm" underline="always" w="fit-content" renderRoot={(props) => <Link to="/questions/$id" params={{ id: step.question_id ?? '' }} {...props} />}>{text.question}</Anchor>}
      {step.child_id && <Child id={step.child_id} run={step.tool === 'workflow'} />}
      <Json label={text.input} value={step.input} />
      <Json label={text.output} value={step.output} />
    </Stack>
  );
}

function Failure({ error }: { error: NonNullable<Step['error']> }) {
  const text = useText();
  const said = useProblemWords()(error);
  return (
    <div className={classes.error}>
      <Text size="sm" fw={said.detail ? 600 : undefined}><Visible text={said.title} /></Text>
      {said.detail && <Text size="sm" lang="en"><Visible text={said.detail} /></Text>}
      {said.hint && <Text size="sm"><b>{text.hint}:</b> <span lang={said.hintLang}><Visible text={said.hint} /></span></Text>}
      <Text size="xs" c="dimmed">{text.code}: <code>{error.code}</code></Text>
    </div>
  );
}

/** Shows the task or the run that a step created, and its state. */
export function Child({ id, run }: { id: string; run: boolean }) {
  const text = useText();
  const waiting = useWaitingText();
  const language = useLanguage();
  const now = useNow();
  const { data } = useQuery(taskQuery(id));
  const title = data?.title ?? id;
  const link = run
    ? <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/workflow-runs/$id" params={{ id }} {...props} />}><Visible text={title} /></Anchor>
    : <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/tasks/$id" params={{ id }} {...props} />}><Visible text={title} /></Anchor>;
  return (
    <>
      <Group gap="xs"><Text size="sm">{run ? text.childRun : text.child}:</Text>{link}{data && <StateBadge state={data.state} />}</Group>
      {data && <NoWorker task={data} why={waitingSentence(data, undefined, { text: waiting, language, now })} />}
    </>
  );
}
