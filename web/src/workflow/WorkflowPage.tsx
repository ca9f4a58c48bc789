import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { asProblem } from '@/api/problem';
import { whoamiQuery } from '@/api/queries';
import { Confirm } from '@/settings/parts/Confirm';
import { useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { BackLink } from '@/ui/BackLink';
import { Page } from '@/ui/Page';
import { useTellRefusal } from '@/ui/problemWords';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useNow } from '@/ui/useNow';
import { Loading } from '@/ui/Loading';
import { disableWorkflow, enableWorkflow, removeWorkflow, useLiveLists, useRefetch, workflowQuery } from './api';
import { Editor } from './Editor';
import { filtersOf, type Search } from './filters';
import { GraphView } from './GraphView';
import { Problems } from './Problems';
import { mayDefine, mayRun } from './rights';
import { InputList, RunButton } from './RunDialog';
import { RunFilterBar } from './RunFilterBar';
import { RunList } from './RunList';
import { SourceView } from './Source';
import { useText } from './text';
import { Triggers, Webhook } from './Triggers';
import type { Workflow } from './types';
import { useWide } from './useWide';
import classes from './Workflow.module.css';
import { EnabledBadge } from './WorkflowsPage';

/** Shows one workflow: what it does, what starts it, and its runs. */
export default function WorkflowPage() {
  const { name = '' }: { name?: string } = useParams({ strict: false });
  const text = useText();
  const { data, error, refetch } = useQuery(workflowQuery(name));
  useLiveLists();
  if (error && asProblem(error).code === 'not_found') return <Page title={text.notFound}><Link to="/workflows">{text.allWorkflows}</Link></Page>;
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  return <OneWorkflow key={data.name} workflow={data} />;
}

function OneWorkflow({ workflow }: { workflow: Workflow }) {
  const text = useText();
  const navigate = useNavigate();
  const search: Search = useSearch({ strict: false });
  const wide = useWide();
  const { data: me } = useQuery(whoamiQuery);
  const may = mayDefine(me, workflow.project);
  const show = (next: Search) => void navigate({ to: '.', search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  const { name, graph } = workflow;
  if (search.edit && may) {
    const back = () => void navigate({ to: '/workflows/$name', params: { name } });
    return <Page title={text.editTitle(name)} wide><Editor name={name} initial={workflow.source ?? ''} onSaved={back} onCancel={back} /></Page>;
  }
  const filters = { ...filtersOf(search), workflow: name };
  const begins = (
    <>
      <section>
        <Title order={2} size="h5" mb="xs">{text.triggers}</Title>
        <Triggers triggers={workflow.triggers}>{(trigger) => trigger.url && <Webhook workflow={workflow} trigger={trigger} url={trigger.url} may={may} />}</Triggers>
        {!workflow.triggers.some(({ type }) => type === 'manual') && <Text size="sm" c="dimmed" mt="xs">{text.notByHand}</Text>}
      </section>
      <section><Title order={2} size="h5" mb="xs">{text.inputs}</Title><InputList inputs={workflow.inputs} /></section>
    </>
  );
  const steps = <section><Title order={2} size="h5" mb="xs">{text.graph}</Title>{graph && <GraphView graph={graph} label={text.graphOf(name)} />}</section>;
  const runs = (
    <section>
      <Title order={2} size="h5" mb="xs">{text.runs}</Title>
      <RunFilterBar filters={filters} change={show} />
      <RunList filters={filters} size={10} />
    </section>
  );
  const source = (
    <section>
      <Title order={2} size="h5" mb="xs">{text.source}</Title>
      <Stack gap="sm">
        <Problems problems={workflow.warnings ?? []} />
        <SourceView source={workflow.source ?? ''} problems={workflow.warnings ?? []} />
      </Stack>
    </section>
  );
  return (
    <Page title={name} back={<BackLink to="/workflows">{text.allWorkflows}</BackLink>} wide actions={<Actions workflow={workflow} may={may} run={mayRun(me)} />}>
      <Stack gap="lg">
        <div>
          <Group gap="xs" mb={6}><EnabledBadge enabled={workflow.enabled} />{!workflow.enabled && <Text size="sm" c="dimmed">{text.disabledAbout}</Text>}</Group>
          {workflow.description && <Text><Visible text={workflow.description} /></Text>}
          <LastChange workflow={workflow} />
        </div>
        {wide
          ? <div className={classes.two}><Stack gap="lg">{begins}{steps}</Stack><Stack gap="lg">{runs}{source}</Stack></div>
          : <>{begins}{runs}{steps}{source}</>}
      </Stack>
    </Page>
  );
}

function LastChange({ workflow }: { workflow: Workflow }) {
  const text = useText();
  const time = useTime();
  const now = useNow();
  return (
    <Text size="sm" c="dimmed" mt={4}>
      {text.changedBy(workflow.updated_by.name || text.somebody, time.relative(workflow.updated_at, now))} · {text.project}: {workflow.project} · {text.hash} <code>{workflow.hash.slice(0, 8)}</code>
    </Text>
  );
}

function Actions({ workflow, may, run }: { workflow: Workflow; may: boolean; run: boolean }) {
  const text = useText();
  const navigate = useNavigate();
  const renew = useRefetch();
  const tellRefusal = useTellRefusal();
  const [deleting, setDeleting] = useState(false);
  const { name, enabled } = workflow;
  const toggle = useMutation({
    mutationFn: () => (enabled ? disableWorkflow : enableWorkflow)(name),
    onSuccess: async () => {
      await renew.workflows();
      notifications.show({ message: text.changed(name, !enabled), color: 'teal', autoClose: 4000, closeButtonProps: { 'aria-label': text.close } });
    },
    onError: tellRefusal,
  });
  const remove = async () => {
    await removeWorkflow(name);
    await navigate({ to: '/workflows' });
    await renew.workflows();
  };
  return (
    <Group gap="xs">
      {run && <RunButton workflow={workflow} prominent />}
      {may && (
        <>
          <Button variant="default" renderRoot={(props) => <Link to="/workflows/$name" params={{ name }} search={{ edit: 'yes' }} {...props} />}>{text.edit}</Button>
          <Button variant="default" loading={toggle.isPending} onClick={() => toggle.mutate()}>{enabled ? text.disable : text.enable}</Button>
          <Button variant="default" onClick={() => setDeleting(true)}>{text.delete}</Button>
        </>
      )}
      {deleting && <Confirm title={text.deleteTitle(name)} confirmLabel={text.deleteYes} run={remove} onClose={() => setDeleting(false)}>{text.deleteAbout}</Confirm>}
    </Group>
  );
}
