import { Button, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useLayoutEffect, useMemo, useRef } from 'react';
import { readMore } from '@/api/readMore';
import { useTime } from '@/text/time';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { timelineQuery } from './api';
import { usePageText } from './pageText';
import { timelineEntries, isOtherDay, postEntry, postsOf, questionsIn } from './thread';
import classes from './thread.module.css';
import { ThreadPost } from './ThreadPost';

/** Shows everything that happened to a task in the order of time, newest last. */
export function Thread({ id }: { id: string }) {
  const text = usePageText();
  const times = useTime();
  const query = useInfiniteQuery(timelineQuery(id));
  const entries = useMemo(() => timelineEntries(query.data?.pages ?? []), [query.data]);
  const shown = useMemo(() => postsOf(entries), [entries]);
  const questions = useMemo(() => questionsIn(entries), [entries]);
  const list = useKeptPlace(shown[0]?.key);
  if (query.error && !query.data) return <ErrorAlert error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Loading />;
  return (
    <>
      {query.hasNextPage ? (
        <Button variant="default" size="compact-md" mb="md" loading={query.isFetchingNextPage} onClick={() => void readMore(query)}>{text.earlier}</Button>
      ) : (
        <Text size="sm" c="dimmed" mb="sm">{text.theBeginning}</Text>
      )}
      <ol className={classes.thread} ref={list} aria-label={text.thread}>
        {shown.map((post, at) => {
          const entry = postEntry(post);
          const before = shown[at - 1];
          return (
            <li key={post.key} className={classes.post}>
              {isOtherDay(before && postEntry(before), entry) && <Text size="xs" fw={600} c="dimmed" className={classes.day}>{times.day(entry.at)}</Text>}
              <ThreadPost post={post} questions={questions} />
            </li>
          );
        })}
      </ol>
    </>
  );
}

/** Keeps the visible posts at their place when earlier posts are added above. */
function useKeptPlace(first: string | undefined) {
  const list = useRef<HTMLOListElement>(null);
  const before = useRef<{ first?: string; height: number }>({ height: 0 });
  useLayoutEffect(() => {
    const height = list.current?.scrollHeight ?? 0;
    const was = before.current;
    if (was.first && was.first !== first && !CSS.supports('overflow-anchor: auto')) window.scrollBy(0, height - was.height);
    before.current = { first, height };
  });
  return list;
}
