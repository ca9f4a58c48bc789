import { Box, Button, Select, Stack } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { readMore } from '@/api/readMore';
import { whoamiQuery } from '@/api/queries';
import type { Delivery } from '@/api/types';
import classes from '@/delivery/Delivery.module.css';
import { DeliveryRow } from '@/delivery/DeliveryRow';
import { deliveryLogQuery, type LogFilter } from '@/delivery/queries';
import { channelName, useText } from '@/delivery/text';
import { expandableRows } from '@/ui/ExpandableRow';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import wrappingButton from '@/ui/WrappingButton.module.css';
import { EmptyList } from '../parts/EmptyList';
import { mayAdminister } from '../parts/rights';
import { Section } from '../parts/Section';
import { channelsQuery } from '../queries';

const states = ['waiting', 'sent', 'failed', 'dead', 'skipped'] as const;

/** Shows every message that was sent, and every one that was not sent with the reason. */
export default function DeliveryLog() {
  const text = useText();
  const { channel, state }: { channel?: string; state?: string } = useSearch({ strict: false });
  const filter: LogFilter = { ...(channel ? { channel } : {}), ...(isState(state) ? { state } : {}) };
  return (
    <Section title={text.log} about={text.logAbout}>
      <Filters filter={filter} />
      <Log filter={filter} />
    </Section>
  );
}

const isState = (state: string | undefined): state is Delivery['state'] => states.some((each) => each === state);

function Filters({ filter: { channel = '', state } }: { filter: LogFilter }) {
  const text = useText();
  const navigate = useNavigate();
  const { data: me } = useQuery(whoamiQuery);
  const { data } = useQuery({ ...channelsQuery, enabled: mayAdminister(me) });
  const set = (change: { channel?: string; state?: string }) =>
    void navigate({ to: '/settings/$section', params: { section: 'deliveries' }, search: { channel, state: state ?? '', ...change }, replace: true });
  const channels = (data?.items ?? []).map((each) => ({ value: each.name, label: channelName(text, each) }));
  // A link may name a channel that was removed.
  const known = channel === '' || channels.some((each) => each.value === channel) ? channels : [...channels, { value: channel, label: channel }];
  return (
    <Box component="search" aria-label={text.filters} className={classes.filters}>
      <Select label={text.channel} allowDeselect={false} value={channel} data={[{ value: '', label: text.everyChannel }, ...known]} onChange={(value) => set({ channel: value ?? '' })} />
      <Select
        label={text.state} allowDeselect={false} value={state ?? ''}
        data={[{ value: '', label: text.everyState }, ...states.map((value) => ({ value, label: text[value] }))]} onChange={(value) => set({ state: value ?? '' })}
      />
      {(channel || state) && <Button variant="subtle" px="xs" classNames={wrappingButton} onClick={() => set({ channel: '', state: '' })}>{text.clear}</Button>}
    </Box>
  );
}

function Log({ filter }: { filter: LogFilter }) {
  const text = useText();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({ ...deliveryLogQuery(filter), placeholderData: (before) => before });
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  const items = data.pages.flatMap((page) => page.items);
  if (items.length === 0) return <EmptyList>{filter.channel || filter.state ? text.noneFound : text.none}</EmptyList>;
  return (
    <Stack gap="sm">
      <ul className={expandableRows} aria-label={text.log}>{items.map((delivery) => <DeliveryRow key={delivery.id} delivery={delivery} mayResend inLog />)}</ul>
      {hasNextPage && <Button variant="default" loading={isFetchingNextPage} onClick={() => void readMore({ data, fetchNextPage })}>{text.more}</Button>}
    </Stack>
  );
}
