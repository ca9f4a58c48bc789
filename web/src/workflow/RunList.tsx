import { Anchor, Button, Paper, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { readMore } from '@/api/readMore';
import rows from '@/settings/parts/Rows.module.css';
import lists from '@/task/list.module.css';
import { StateBadge } from '@/task/StateBadge';
import looks from '@/task/task.module.css';
import { useSteadyList } from '@/task/steadyList';
import { useIsBeingRead } from '@/ui/useIsBeingRead';
import { useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useNow } from '@/ui/useNow';
import { Loading } from '@/ui/Loading';
import { runsQuery } from './api';
import { Facts } from './Facts';
import { isRunEnded, type RunFilters } from './filters';
import { useText } from './text';
import { durationText } from './durations';
import type { ListedRun } from './types';
import { useRowKeys } from './useRowKeys';
import { inputWords, titleOf } from './words';

interface Props {
  filters: RunFilters;
  /** The number of runs that are read at once. */
  size: number;
}

/**
 * Lists the runs, newest first. Rows keep their place while the reader reads them. New runs are shown when the reader
 * asks for them.
 */
export function RunList({ filters, size }: Props) {
  const text = useText();
  const box = useRef<HTMLDivElement>(null);
  const [isBeingRead, release] = useIsBeingRead(box);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isPlaceholderData } = useInfiniteQuery(runsQuery(filters, size));
  const runs = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  const { shown, gone, fresh } = useSteadyList(runs, isBeingRead, JSON.stringify([filters, isPlaceholderData]));
  useRowKeys();
  const filtered = filters.stateGroup !== undefined || filters.trigger !== undefined;
  return (
    <div ref={box} aria-busy={isPlaceholderData}>
      <div className={lists.fresh} role="status">
        {(fresh > 0 || gone.size > 0) && <Button size="compact-sm" onClick={release}>{fresh > 0 ? text.fresh(fresh) : text.freshChanges}</Button>}
      </div>
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : !data && <Loading />}
      {data && shown.length === 0 && <Paper withBorder p="md"><Text c="dimmed">{filtered ? text.noRunsFit : text.noRuns}</Text></Paper>}
      {shown.length > 0 && (
        <Stack gap="sm">
          <ul className={rows.rows} aria-label={text.runs}>{shown.map((run) => <RunRow key={run.id} run={run} gone={gone.has(run.id)} />)}</ul>
          {hasNextPage && <Button variant="default" loading={isFetchingNextPage} onClick={() => void readMore({ data, fetchNextPage })}>{text.more}</Button>}
        </Stack>
      )}
    </div>
  );
}

function RunRow({ run, gone }: { run: ListedRun; gone: boolean }) {
  const text = useText();
  const time = useTime();
  const now = useNow();
  const ended = isRunEnded(run.state);
  const lasted = durationText((run.ended_at ? Date.parse(run.ended_at) : now) - Date.parse(run.created_at));
  const facts = [text.starts[run.trigger], text.started(time.relative(run.created_at, now)), ended ? run.ended_at && text.took(lasted) : text.since(lasted), !ended && run.step && text.atStep(run.step)];
  const given = inputWords(run.inputs);
  return (
    <li className={`${rows.row ?? ''} ${gone ? (looks.moved ?? '') : ''}`} data-run={run.id}>
      <div className={rows.what}>
        <Anchor fw={600} underline="always" data-row-link renderRoot={(props) => <Link to="/workflow-runs/$id" params={{ id: run.id }} {...props} />}><Visible text={titleOf(run, time.full)} /></Anchor>
        <Text size="sm" c="dimmed"><Facts all={facts} /></Text>
        {given && <Text size="xs" c="dimmed" lineClamp={2}><Visible text={given} /></Text>}
      </div>
      <StateBadge state={run.state} />
    </li>
  );
}
