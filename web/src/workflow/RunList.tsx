import { Anchor, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { StateBadge } from '@/task/StateBadge';
import { duration, useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { Trouble } from '@/ui/Trouble';
import { useNow } from '@/ui/useNow';
import { Waiting } from '@/ui/Waiting';
import { runsQuery } from './api';
import { isRunEnded, type RunFilters } from './filters';
import { useText } from './text';
import classes from './Workflow.module.css';

type Listed = { id: string; title: string; state: Parameters<typeof isRunEnded>[0]; trigger: keyof ReturnType<typeof useText>['starts']; created_at: string; ended_at?: string; step?: string };

/** Runs, the newest first. */
export function RunList({ filters }: { filters: RunFilters }) {
  const text = useText();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(runsQuery(filters));
  if (error && !data) return <Trouble error={error} again={() => void refetch()} />;
  if (!data) return <Waiting />;
  const runs = data.pages.flatMap((page) => page.items);
  const filtered = filters.stand !== undefined || filters.trigger !== undefined;
  if (runs.length === 0) return <Paper withBorder p="md"><Text c="dimmed">{filtered ? text.noRunsFit : text.noRuns}</Text></Paper>;
  return (
    <Stack gap="sm">
      <ul className={classes.list} aria-label={text.runs}>{runs.map((run) => <RunRow key={run.id} run={run} />)}</ul>
      {hasNextPage && <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>{text.more}</Button>}
    </Stack>
  );
}

function RunRow({ run }: { run: Listed }) {
  const text = useText();
  const time = useTime();
  const now = useNow();
  const ended = isRunEnded(run.state);
  const long = duration((run.ended_at ? Date.parse(run.ended_at) : now) - Date.parse(run.created_at));
  const facts = [text.starts[run.trigger], text.started(time.relative(run.created_at, now)), ended ? run.ended_at && text.took(long) : text.since(long), !ended && run.step && text.atStep(run.step)].filter(Boolean);
  return (
    <li className={classes.row} data-run={run.id}>
      <div className={classes.what}>
        <Anchor fw={600} underline="always" renderRoot={(props) => <Link to="/workflow-runs/$id" params={{ id: run.id }} {...props} />}><Visible text={run.title} /></Anchor>
        <Text size="sm" c="dimmed">{facts.join(' · ')}</Text>
      </div>
      <Group><StateBadge state={run.state} /></Group>
    </li>
  );
}
