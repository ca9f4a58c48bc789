import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { api, unwrap } from '@/api/client';
import { readMore } from '@/api/readMore';
import { useCommands } from '@/keys/useCommands';
import { useTime } from '@/text/time';
import { Icon } from '@/ui/Icon';
import { expandableRows } from '@/ui/ExpandableRow';
import { Page } from '@/ui/Page';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { AuditFilters } from './AuditFilters';
import { EventRow } from './EventRow';
import { exportOf, queryOf, type AuditFilter } from './filter';
import { useText } from './text';
import { useVerify } from './Verify';

/** Shows the event log of the workspace. */
export default function AuditPage() {
  const text = useText();
  const navigate = useNavigate();
  const { q, type, actor, task, from, to } = useSearch({ strict: false });
  const filter: AuditFilter = { q, type, actor, task, from, to };
  const { button, result } = useVerify();
  const setFilter = (change: AuditFilter) => void navigate({ to: '/audit', search: { ...filter, ...change }, replace: true });
  useCommands([{ id: 'search-audit', title: text.filters, group: text.title, keys: ['/'], run: () => document.getElementById('audit-search')?.focus() }]);
  return (
    <Page
      title={text.title} wide
      actions={
        <Group gap="xs">
          <Button component="a" href={exportOf(filter)} download variant="default" leftSection={<Icon name="download" />} title={text.exportAbout}>{text.export}</Button>
          {button}
        </Group>
      }
    >
      <Stack>
        <div>
          <Text size="sm" c="dimmed">{text.about}</Text>
          {result}
        </div>
        <AuditFilters filter={filter} onChange={setFilter} />
        <Events filter={filter} />
      </Stack>
    </Page>
  );
}

function Events({ filter }: { filter: AuditFilter }) {
  const text = useText();
  const time = useTime();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam }) => unwrap(api.GET('/v1/audit', { params: { query: { ...queryOf(filter), limit: 50, ...(pageParam ? { cursor: pageParam } : {}) } } })),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: (before) => before,
  });
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  const events = data.pages.flatMap((page) => page.items);
  const searchedTo = data.pages.at(-1)?.searched_to;
  const filtered = Object.values(filter).some(Boolean);
  return (
    <Stack gap="sm">
      {events.length === 0 && <Paper withBorder p="md"><Text>{filtered ? text.none : text.noneYet}</Text></Paper>}
      {events.length > 0 && <ol className={expandableRows} aria-label={text.events}>{events.map((event) => <EventRow key={event.seq} event={event} />)}</ol>}
      {searchedTo && <Text size="sm" c="dimmed" role="status">{text.searchedTo(time.full(searchedTo))}</Text>}
      {hasNextPage && <Button variant="default" loading={isFetchingNextPage} onClick={() => void readMore({ data, fetchNextPage })}>{searchedTo ? text.searchOn : text.more}</Button>}
    </Stack>
  );
}
