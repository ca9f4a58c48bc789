import { Button, Group, Stack, Tabs, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { asProblem } from '@/api/problem';
import { whoamiQuery } from '@/api/queries';
import type { Task } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { useLanguage } from '@/text/language';
import { Visible } from '@/text/Visible';
import { BackLink } from '@/ui/BackLink';
import { Icon } from '@/ui/Icon';
import { Keys } from '@/ui/Keys';
import { Markdown } from '@/ui/Markdown';
import { Page } from '@/ui/Page';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useNow } from '@/ui/useNow';
import { Loading } from '@/ui/Loading';
import { runsQuery, taskQuery, type Run } from './api';
import { Composer } from './Composer';
import { Facts } from './Facts';
import type { Search } from './filters';
import { useLiveTasks } from './live';
import { usePageText } from './pageText';
import { NoWorker } from './NoWorker';
import { Relatives } from './Relatives';
import { RunLog } from './RunLog';
import { Runs } from './Runs';
import { StateBadge } from './StateBadge';
import classes from './task.module.css';
import { useTaskText } from './text';
import { TakeOver } from './TakeOver';
import { Thread } from './Thread';
import { VerbButtons } from './VerbButtons';
import { VerbsProvider } from './Verbs';
import { waitingSentence } from './waiting';
import { useWaitingText } from './waitingText';

/** Shows everything about one task, and what the reader can do with it. */
export default function TaskPage() {
  const params: { id?: string } = useParams({ strict: false });
  const id = params.id ?? '';
  const text = usePageText();
  const { data: task, error, refetch } = useQuery(taskQuery(id));
  if (error && asProblem(error).code === 'not_found') {
    return <Page title={text.notFound}><Link to="/tasks">{text.toTasks}</Link></Page>;
  }
  if (error && !task) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!task) return <Loading />;
  // The address may contain only the end of an id. The task has the full id.
  return <VerbsProvider key={task.id}><TaskView task={task} address={id} /></VerbsProvider>;
}

const parts = ['thread', 'log', 'runs'] as const;
type Part = (typeof parts)[number];

function TaskView({ task, address }: { task: Task; address: string }) {
  const text = usePageText();
  const words = useTaskText();
  const navigate = useNavigate();
  const search: Search = useSearch({ strict: false });
  const { data: runs } = useQuery(runsQuery(address));
  useLiveTasks([task.id, ...(task.blocked_by ?? []), task.parent_id ?? '']);
  const part = parts.find((each) => each === search.part) ?? 'thread';
  const show = (next: Part) => void navigate({ to: '.', search: (now) => ({ ...now, part: next === 'thread' ? undefined : next }), replace: true, resetScroll: false });
  useCommands(parts.map((each, at) => ({ id: `part-${each}`, title: words.showAs(text[each]), group: words.task, keys: [`v ${['t', 'l', 'a'][at] ?? ''}`], run: () => show(each) })));
  const run = runs?.items.find((each) => each.id === search.run) ?? runs?.items.at(-1);
  return (
    <Page title={task.title} back={<BackLink to="/tasks">{text.toTasks}</BackLink>} wide actions={<StateBadge state={task.state} />}>
      <Stack gap="sm" mb="md">
        <WhoWaits task={task} run={runs?.items.at(-1)} />
        <NoWorker task={task} />
        <VerbButtons task={task} />
        <TakeOver task={task} />
      </Stack>
      <div className={classes.page}>
        {task.body && <section className={classes.description}><Title order={2} size="h6" mb={4}>{text.description}</Title><Markdown text={task.body} /></section>}
        <div className={classes.main}>
          <Tabs value={part} onChange={(value) => show((value ?? 'thread') as Part)} keepMounted={false}>
            <Tabs.List mb="md" aria-label={text.parts}>
              {parts.map((each) => <Tabs.Tab key={each} value={each}>{text[each]}{each === 'runs' && runs ? ` (${runs.items.length})` : ''}</Tabs.Tab>)}
            </Tabs.List>
            <Tabs.Panel value="thread">
              <Thread id={address} />
              <Composer task={task} />
            </Tabs.Panel>
            <Tabs.Panel value="log">{run ? <RunLog key={run.id} run={run} /> : <Text c="dimmed">{text.noRuns}</Text>}</Tabs.Panel>
            <Tabs.Panel value="runs"><Runs runs={runs?.items ?? []} /></Tabs.Panel>
          </Tabs>
        </div>
        <Stack component="aside" gap="lg" aria-label={text.details}>
          {task.summary && <section><Title order={2} size="h6" mb={4}>{text.summary}</Title><Text size="sm"><Visible text={task.summary} /></Text></section>}
          {task.runner === 'workflow' && <Text size="sm"><Link to="/workflow-runs/$id" params={{ id: task.id }} className={classes.other}>{text.showRun}</Link></Text>}
          <Relatives task={task} />
          <Facts task={task} />
        </Stack>
      </div>
    </Page>
  );
}

/** Shows which people a task waits for, since when, until when, and what happens then. */
function WhoWaits({ task, run }: { task: Task; run: Run | undefined }) {
  const text = useWaitingText();
  const page = usePageText();
  const language = useLanguage();
  const now = useNow();
  const { data: me } = useQuery(whoamiQuery);
  const pending = task.waiting;
  const jump = () => {
    const question = document.getElementById(`question-${pending?.question_id ?? ''}`);
    question?.scrollIntoView({ block: 'start' });
    question?.focus({ preventScroll: true });
  };
  useCommands([{ id: 'answer-here', title: page.answerHere, group: page.thread, keys: ['o'], run: jump }], pending !== undefined);
  return (
    <Group className={classes.sentence} data-needs={pending !== undefined} justify="space-between" gap="sm">
      <Text flex={1} miw={220} data-waiting>{waitingSentence(task, run, { text, language, now, me: me?.name })}</Text>
      {pending && <Button size="compact-sm" mih={32} leftSection={<Icon name="person" size={14} />} rightSection={<Text span visibleFrom="sm"><Keys keys="o" /></Text>} onClick={jump}>{page.answerHere}</Button>}
    </Group>
  );
}
