import { Anchor, Badge, Button, Code, Group, Paper, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { whoamiQuery } from '@/api/queries';
import { useCommands } from '@/keys/useCommands';
import rows from '@/settings/parts/Rows.module.css';
import { StateBadge } from '@/task/StateBadge';
import looks from '@/task/task.module.css';
import { useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { Icon } from '@/ui/Icon';
import { Page } from '@/ui/Page';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useNow } from '@/ui/useNow';
import { Loading } from '@/ui/Loading';
import { useLiveLists, workflowsQuery } from './api';
import { Editor } from './Editor';
import type { Search } from './filters';
import { ListTabs } from './ListTabs';
import { mayDefine, mayRun } from './rights';
import { RunButton } from './RunDialog';
import { useText } from './text';
import { Triggers } from './Triggers';
import type { Workflow } from './types';
import { useRowKeys } from './useRowKeys';
import classes from './Workflow.module.css';

/** Shows every workflow: what it is, what starts it, and how its last run went. */
export default function WorkflowsPage() {
  const text = useText();
  const navigate = useNavigate();
  const { new: adding }: Search = useSearch({ strict: false });
  const { data: me } = useQuery(whoamiQuery);
  const { data, error, refetch } = useQuery(workflowsQuery);
  useLiveLists();
  useRowKeys();
  const may = mayDefine(me);
  useCommands([{ id: 'new-workflow', title: text.newWorkflow, group: text.workflows, keys: ['n'], run: () => void navigate({ to: '/workflows', search: { new: 'yes' } }) }], may);
  if (adding && may) return <NewWorkflow />;
  return (
    <Page title={text.workflows} actions={may && <Button renderRoot={(props) => <Link to="/workflows" search={{ new: 'yes' }} {...props} />}>{text.newWorkflow}</Button>}>
      <ListTabs current="workflows" />
      <Text size="sm" c="dimmed" mb="sm">{text.about}</Text>
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : !data && <Loading />}
      {data?.items.length === 0 && <None may={may} />}
      {data && data.items.length > 0 && (
        <ul className={rows.rows} aria-label={text.workflows}>
          {data.items.map((workflow) => <WorkflowRow key={workflow.name} workflow={workflow} run={mayRun(me)} />)}
        </ul>
      )}
    </Page>
  );
}

function None({ may }: { may: boolean }) {
  const text = useText();
  return (
    <Paper withBorder p="md">
      <Stack gap="xs" align="flex-start">
        <Text fw={600}>{text.none}</Text>
        <Text size="sm">{text.noneHow}</Text>
        <Code block maw="100%">{text.noneCommand}</Code>
        {!may && <Text size="sm" c="dimmed">{text.noneAdmins}</Text>}
      </Stack>
    </Paper>
  );
}

function WorkflowRow({ workflow, run }: { workflow: Workflow; run: boolean }) {
  const text = useText();
  const { name, description, enabled, triggers, last_run: last } = workflow;
  return (
    <li className={rows.row} data-workflow={name}>
      <div className={rows.what}>
        <Group gap="xs" mb={4}>
          <Anchor fw={600} underline="always" data-row-link renderRoot={(props) => <Link to="/workflows/$name" params={{ name }} {...props} />}>{name}</Anchor>
          <EnabledBadge enabled={enabled} />
          {workflow.project !== 'default' && <Text size="sm" c="dimmed">{text.project}: {workflow.project}</Text>}
        </Group>
        {description && <Text size="sm" mb={6}><Visible text={description} /></Text>}
        <Triggers triggers={triggers} />
      </div>
      <div className={classes.last}>
        {last ? <LastRun run={last} /> : <Text size="sm" c="dimmed">{text.noRun}</Text>}
        {run && <RunButton workflow={workflow} />}
      </div>
    </li>
  );
}

export function EnabledBadge({ enabled }: { enabled: boolean }) {
  const text = useText();
  return <Badge variant="default" radius="sm" tt="none" fw={500} className={enabled ? undefined : looks.calm} leftSection={<Icon name={enabled ? 'check' : 'pause'} size={12} />}>{enabled ? text.enabled : text.disabled}</Badge>;
}

function LastRun({ run }: { run: NonNullable<Workflow['last_run']> }) {
  const text = useText();
  const time = useTime();
  const now = useNow();
  return (
    <Stack gap={2} align="flex-start">
      <StateBadge state={run.state} />
      <Anchor size="sm" underline="always" renderRoot={(props) => <Link to="/workflow-runs/$id" params={{ id: run.id }} {...props} />}>{text.lastRun}: {time.relative(run.created_at, now)}</Anchor>
    </Stack>
  );
}

const first = `name: hello
description: Asks a person, then waits a moment.
triggers:
  - manual: true
inputs:
  who: { type: string, default: World }
steps:
  - id: ask
    tool: post_question
    input:
      question: "Shall we greet {{ inputs.who }}?"
      options: [Yes please, Not today]
    suspend: true
  - id: pause
    tool: wait
    input: { for: 5s }
`;

function NewWorkflow() {
  const text = useText();
  const navigate = useNavigate();
  return (
    <Page title={text.newWorkflow} wide>
      <Editor initial={first} onSaved={({ name }) => void navigate({ to: '/workflows/$name', params: { name } })} onCancel={() => void navigate({ to: '/workflows' })} />
    </Page>
  );
}
