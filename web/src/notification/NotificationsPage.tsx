import { Button, Center, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { followEvents } from '@/api/followEvents';
import { readMore } from '@/api/readMore';
import { useCommands } from '@/keys/useCommands';
import { nextIndex } from '@/task/focus';
import { useIsBeingRead } from '@/ui/useIsBeingRead';
import { useSteadyList } from '@/task/steadyList';
import { useText } from '@/shell/text';
import { Page } from '@/ui/Page';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useNow } from '@/ui/useNow';
import { Loading } from '@/ui/Loading';
import { markRead, mayBeNews, newsKey, newsQuery } from './api';
import { BrowserPanel } from './BrowserPanel';
import classes from './news.module.css';
import { NewsItem } from './NewsItem';
import { useNewsText } from './text';

/** Shows the notifications of the reader, newest first. */
export default function NotificationsPage() {
  const text = useNewsText();
  const shell = useText();
  const client = useQueryClient();
  const box = useRef<HTMLDivElement>(null);
  const [isBeingRead, release] = useIsBeingRead(box);
  const query = useInfiniteQuery(newsQuery);
  const list = useMemo(() => query.data?.pages.flatMap((page) => page.items).map((news) => ({ id: String(news.seq), news })) ?? [], [query.data]);
  const { shown, fresh } = useSteadyList(list, isBeingRead, 'news');
  const now = Math.ceil(useNow() / 10_000) * 10_000;
  const first = query.data?.pages[0];
  const unread = first?.unread ?? 0;
  useEffect(() => followEvents(client, newsKey, mayBeNews), [client]);
  const mark = useMutation({ mutationFn: markRead, onSuccess: () => client.invalidateQueries({ queryKey: newsKey }) });
  const markAll = () => {
    const newest = shown[0]?.news.seq;
    if (newest) mark.mutate(newest);
  };
  useNewsKeys(shown.map((each) => each.id), markAll);
  return (
    <Page title={text.title} actions={<Button variant="default" onClick={markAll} disabled={unread === 0} loading={mark.isPending}>{text.markRead}</Button>}>
      <Stack gap="md">
        <BrowserPanel />
        {mark.error && <ErrorAlert error={mark.error} />}
        {query.error && <ErrorAlert error={query.error} onRetry={() => void query.refetch()} />}
        {query.isPending && <Loading />}
        {query.isSuccess && (
          <Group justify="space-between" mih={32}>
            <Text size="sm" c="dimmed" role="status">{unread > 0 ? shell.unread(unread) : text.allRead}</Text>
            {fresh > 0 && <Button size="compact-sm" onClick={release}>{text.fresh(fresh)}</Button>}
          </Group>
        )}
        {query.isSuccess && shown.length === 0 && (
          <Center p="xl"><Stack gap="xs" maw={520} ta="center"><Text fw={600}>{text.none}</Text><Text size="sm" c="dimmed">{text.noneHow}</Text></Stack></Center>
        )}
        <div ref={box}>
          <ul className={classes.list}>
            {shown.map(({ id, news }) => <li key={id}><NewsItem news={news} now={now} /></li>)}
          </ul>
        </div>
        {query.hasNextPage && <Center><Button variant="default" loading={query.isFetchingNextPage} onClick={() => void readMore(query)}>{text.more}</Button></Center>}
      </Stack>
    </Page>
  );
}

function useNewsKeys(ids: readonly string[], markAll: () => void) {
  const text = useNewsText();
  const move = (by: 1 | -1) => {
    const focused = document.activeElement?.closest<HTMLElement>('[data-news]')?.dataset.news ?? '';
    const id = ids[nextIndex(ids.length, ids.indexOf(focused), by)];
    const link = id && document.querySelector<HTMLElement>(`[data-news="${id}"] [data-news-link]`);
    if (!link) return;
    link.focus({ preventScroll: true });
    link.closest('[data-news]')?.scrollIntoView({ block: 'nearest' });
  };
  useCommands([
    { id: 'news-next', title: text.next, group: text.keys, keys: ['j', 'ArrowDown'], run: () => move(1) },
    { id: 'news-previous', title: text.previous, group: text.keys, keys: ['k', 'ArrowUp'], run: () => move(-1) },
    { id: 'news-read', title: text.markRead, group: text.keys, keys: ['e'], run: markAll },
  ]);
}
