import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { asProblem } from '@/api/problem';
import { whoamiQuery } from '@/api/queries';
import { useCommands } from '@/keys/useCommands';
import { Confirm } from '@/settings/parts/Confirm';
import { EmptyList } from '@/settings/parts/EmptyList';
import rows from '@/settings/parts/Rows.module.css';
import looks from '@/task/task.module.css';
import { Visible } from '@/text/Visible';
import { Icon } from '@/ui/Icon';
import { Page } from '@/ui/Page';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { namedToolsQuery, refreshTools, removeTool, toolsQuery, useLiveTools, useRefetch } from './api';
import { Json } from './Json';
import { Name } from './Name';
import { ListTabs } from './ListTabs';
import { mayDefineTools } from './rights';
import { useText } from './text';
import { groupsOf, type ToolGroup } from './tool';
import { ToolDialog } from './ToolDialog';
import type { NamedTool, ToolInfo } from './types';
import classes from './Workflow.module.css';

type OpenDialog = { what: 'add' } | { what: 'edit' | 'remove'; tool: NamedTool } | undefined;

/** Shows the tools that steps of workflows may name. */
export default function ToolsPage() {
  const text = useText();
  const renew = useRefetch();
  const { data: me } = useQuery(whoamiQuery);
  const { data: tools, error, refetch } = useQuery(toolsQuery);
  const { data: named } = useQuery(namedToolsQuery);
  const [doing, setDoing] = useState<OpenDialog>();
  useLiveTools();
  const may = mayDefineTools(me);
  const add = () => setDoing({ what: 'add' });
  useCommands([{ id: 'add-tool', title: text.addTool, group: text.tools, keys: ['n'], run: add }], may);
  const close = () => setDoing(undefined);
  const remove = async ({ name }: NamedTool) => {
    await removeTool(name);
    await renew.tools();
  };
  const buttons = (name: string) => {
    const tool = named?.items.find((each) => each.name === name);
    if (!may || !tool) return null;
    return (
      <Group gap="xs">
        {tool.server && <RefreshButton name={name} />}
        <Button variant="default" size="compact-sm" mih={30} aria-label={`${text.edit}: ${name}`} onClick={() => setDoing({ what: 'edit', tool })}>{text.edit}</Button>
        <Button variant="default" size="compact-sm" mih={30} aria-label={`${text.removeTool}: ${name}`} onClick={() => setDoing({ what: 'remove', tool })}>{text.removeTool}</Button>
      </Group>
    );
  };
  return (
    <Page title={text.tools} actions={may && <Button leftSection={<Icon name="plus" size={16} />} onClick={add}>{text.addTool}</Button>}>
      <ListTabs current="tools" />
      <Text size="sm" c="dimmed" mb="md">{text.toolsAbout}{!may && me && ` ${text.onlyOperators}`}</Text>
      {error && !tools ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : (!tools || !named) && <Loading />}
      {tools && named && (
        <Stack gap="lg">
          {named.items.length === 0 && <EmptyList>{text.noNamed}</EmptyList>}
          {groupsOf(tools.items, named.items).map((group) => <GroupOf key={group.server ?? group.kind} group={group} buttons={buttons} about={named.items.find((tool) => tool.name === group.server)?.description} />)}
        </Stack>
      )}
      {doing?.what === 'add' && <ToolDialog onClose={close} />}
      {doing?.what === 'edit' && <ToolDialog tool={doing.tool} onClose={close} />}
      {doing?.what === 'remove' && <Confirm title={text.removeToolTitle(doing.tool.name)} confirmLabel={text.removeTool} run={() => remove(doing.tool)} onClose={close}>{text.removeToolAbout}</Confirm>}
    </Page>
  );
}

/** Lets the reader ask an MCP server again which tools it has. */
function RefreshButton({ name }: { name: string }) {
  const text = useText();
  const renew = useRefetch();
  const ask = useMutation({
    mutationFn: () => refreshTools(name),
    onSuccess: () => renew.tools(),
    onError: (error) => notifications.show({ title: asProblem(error).message, message: asProblem(error).hint, color: 'red', autoClose: 10_000, closeButtonProps: { 'aria-label': text.close } }),
  });
  return <Button variant="default" size="compact-sm" mih={30} loading={ask.isPending} aria-label={`${text.askAgain}: ${name}`} onClick={() => ask.mutate()}>{text.askAgain}</Button>;
}

function GroupOf({ group, buttons, about }: { group: ToolGroup; buttons: (name: string) => React.ReactNode; about?: string }) {
  const text = useText();
  const title = group.server ? text.ofServer(group.server) : text.kinds[group.kind];
  return (
    <section aria-label={title} data-tools={group.server ?? group.kind}>
      <Group justify="space-between" gap="sm" mb="xs">
        <Group gap="xs">
          <Title order={2} size="h5">{title}</Title>
          {group.server && <ServerState group={group} />}
        </Group>
        {group.server && buttons(group.server)}
      </Group>
      {about && <Text size="sm" c="dimmed" mb="xs"><Visible text={about} /></Text>}
      {group.error && <div className={classes.error}><Text size="sm"><Visible text={group.error} /></Text></div>}
      {group.tools.length > 0 && <ul className={rows.rows}>{group.tools.map((tool) => <ToolRow key={tool.name} tool={tool} actions={group.server ? null : buttons(tool.name)} />)}</ul>}
    </section>
  );
}

function ServerState({ group }: { group: ToolGroup }) {
  const text = useText();
  return (
    <Badge variant="default" radius="sm" tt="none" fw={500} className={group.error ? looks.bad : undefined} leftSection={<Icon name={group.error ? 'warning' : 'check'} size={12} />}>
      {!group.error ? text.serverUp(group.tools.length) : group.tools.length > 0 ? text.serverAway(group.tools.length) : text.serverDown}
    </Badge>
  );
}

function ToolRow({ tool, actions }: { tool: ToolInfo; actions: React.ReactNode }) {
  const text = useText();
  return (
    <li className={rows.row} data-tool={tool.name}>
      <div className={rows.what}>
        <Text fw={600} ff="monospace" size="sm"><Name text={tool.name} /></Text>
        {tool.description && <Text size="sm" c="dimmed"><Visible text={tool.description} /></Text>}
        {Boolean(tool.input ?? tool.output) && (
          <div className={classes.schemas}>
            <Json label={text.schemaIn} value={tool.input} plain />
            <Json label={text.schemaOut} value={tool.output} plain />
          </div>
        )}
      </div>
      {actions}
    </li>
  );
}
