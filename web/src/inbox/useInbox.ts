import { queryOptions, useInfiniteQuery, useQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { api, unwrap } from '@/api/client';
import { lastReceivedSeq, type ReceivedEvent } from '@/api/receivedEvents';
import { onEvent, onReset } from '@/api/live';
import { readMore } from '@/api/readMore';
import { receivedSinceRead } from '@/api/reads';
import { asProblem } from '@/api/problem';
import type { EventType, Question } from '@/api/types';
import { storeInbox, readStoredInbox } from '@/offline/storedInbox';
import { onOutbox, outbox } from '@/outbox/outbox';
import { heldAnswers, onHeld, onUndone } from '@/question/held';
import { readQuestion } from '@/question/queries';
import { isFiltered, queryOf, type Filter } from './filter';
import type { InboxOrder } from './sections';

interface Part {
  items: Question[];
  next_cursor?: string;
  /** Whether the part comes from the stored inbox, because there is no connection. */
  isStored?: boolean;
}
type Data = InfiniteData<Part, string | undefined>;

const pageSize = 200;
const maxNew = 50;

/**
 * Reads the questions of an inbox and keeps their order. A question that ends
 * stays at its place and shows how it ended. New questions wait until the
 * reader asks for them.
 */
export function useInbox(filter: Filter, order: InboxOrder) {
  const client = useQueryClient();
  const key = useMemo(() => ['inbox', filter, order], [filter, order]);
  const list = useInfiniteQuery<Part, Error, Data, readonly unknown[], string | undefined>({
    queryKey: key,
    queryFn: ({ pageParam }) => readPart(filter, order, pageParam),
    initialPageParam: undefined,
    getNextPageParam: (part) => part.next_cursor,
    staleTime: Infinity,
    gcTime: 5 * 60_000,
    refetchOnWindowFocus: false,
  });
  const questions = useMemo(() => list.data?.pages.flatMap((part) => part.items) ?? [], [list.data]);
  const gone = useAnsweredIds();
  const fresh = useNewCount(key, filter, questions);
  useEndedRows(key, questions);
  const { refetch, fetchNextPage, hasNextPage, isFetching } = list;
  // The server examines a limited number of questions for one part, and may find no match. The next part may have some.
  const isSearching = questions.length === 0 && hasNextPage;
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  const refresh = useCallback(async () => {
    client.setQueryData<Data>(key, (data) => data && { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) });
    await refetch();
    void client.invalidateQueries({ queryKey: ['inbox-new'] });
  }, [client, key, refetch]);
  return {
    questions, gone, fresh, refresh,
    isStored: list.data?.pages[0]?.isStored === true, loading: list.isPending || isSearching, error: list.error,
    more: list.hasNextPage, loadMore: () => { if (!list.isFetchingNextPage) void readMore(list); },
  };
}

async function readPart(filter: Filter, order: InboxOrder, cursor: string | undefined): Promise<Part> {
  try {
    const part = (await unwrap(api.GET('/v1/questions', { params: { query: { ...queryOf(filter), sort: order, limit: pageSize, cursor } } }))) as Part;
    if (!cursor && !isFiltered(filter)) void storeInbox(part.items);
    return part;
  } catch (error) {
    if (cursor || !asProblem(error).offline) throw error;
    const items = await readStoredInbox();
    if (items.length === 0) throw error;
    return { items, isStored: true };
  }
}

/** Returns the ids of the questions that the reader answered on this page, even before the server confirms. */
function useAnsweredIds(): ReadonlySet<string> {
  const [answered, setAnswered] = useState(() => addOutbox(new Set()));
  useEffect(() => onOutbox(() => setAnswered(addOutbox)), []);
  useEffect(() => onHeld(() => setAnswered(addHeld)), []);
  useEffect(() => onUndone((id) => setAnswered((before) => new Set([...before].filter((each) => each !== id)))), []);
  return answered;
}

/** Returns the ids with those of the answers that can still be undone. */
function addHeld(ids: ReadonlySet<string>): ReadonlySet<string> {
  const held = heldAnswers().flatMap((entry) => entry.ids);
  return held.every((id) => ids.has(id)) ? ids : new Set([...ids, ...held]);
}

/** Returns the ids with those of the answers in the outbox, and without those of refused ones. */
function addOutbox(ids: ReadonlySet<string>): ReadonlySet<string> {
  const differs = outbox().some(({ questionId, state }) => ids.has(questionId) === (state === 'refused'));
  if (!differs) return ids;
  const next = new Set(ids);
  for (const { questionId, state } of outbox()) {
    if (state === 'refused') next.delete(questionId);
    else next.add(questionId);
  }
  return next;
}

/** The events after which a question may wait for the reader. */
const waitingEvents: ReadonlySet<EventType> = new Set<EventType>(['question.asked', 'question.escalated', 'question.assigned']);

/** Returns how many questions match the filters and are not in the list yet. */
function useNewCount(key: readonly unknown[], filter: Filter, questions: Question[]) {
  const client = useQueryClient();
  const [requests, setRequests] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const count = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setRequests((n) => n + 1);
      }, 400);
    };
    const matters = (event: ReceivedEvent) => waitingEvents.has(event.type);
    const stops = [onEvent((event) => matters(event) && count()), onReset(count)];
    const missed = receivedSinceRead(client, key);
    if (!missed || missed.some(matters)) count();
    return () => {
      stops.forEach((stop) => stop());
      clearTimeout(timer);
    };
  }, [client, key]);
  const { data } = useQuery({
    queryKey: ['inbox-new', filter, requests],
    queryFn: () => unwrap(api.GET('/v1/questions', { params: { query: { ...queryOf(filter), sort: 'newest', limit: maxNew } } })),
    enabled: requests > 0,
    staleTime: 0,
  });
  return useMemo(() => {
    const known = new Set(questions.map((question) => question.id));
    const found = (data?.items ?? []).filter((question) => !known.has(question.id)).length;
    return { count: found, more: found === maxNew };
  }, [data, questions]);
}

/** Reads a question again after each of its events, and updates its row. So the row shows how its question ended. */
function useEndedRows(key: readonly unknown[], questions: Question[]) {
  const client = useQueryClient();
  const [known] = useState(() => new Set<string>());
  const handleEvent = useRef<(event: ReceivedEvent) => void>(undefined);
  useEffect(() => {
    const ended = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      timer = undefined;
      const ids = [...ended].slice(0, 50);
      ended.clear();
      const found = await Promise.all(ids.map((id) => readQuestion(client, id).catch(() => undefined)));
      const byId = new Map(found.flatMap((question) => (question ? [[question.id, question]] : [])));
      client.setQueryData<Data>(key, (data) => data && {
        ...data,
        pages: data.pages.map((part) => (part.items.some((question) => byId.has(question.id)) ? { ...part, items: part.items.map((question) => inPlace(question, byId.get(question.id))) } : part)),
      });
    };
    handleEvent.current = (event) => {
      if (!event.question_id || !known.has(event.question_id) || !event.type.startsWith('question.')) return;
      ended.add(event.question_id);
      timer ??= setTimeout(() => void read(), 200);
    };
    const stop = onEvent(handleEvent.current);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [client, key, known]);
  // Handles the questions that ended while the list was read, or while no page showed it.
  const checked = useRef(0);
  useEffect(() => {
    known.clear();
    questions.forEach((question) => known.add(question.id));
    const missed = receivedSinceRead(client, key);
    if (missed) missed.forEach((event) => event.seq > checked.current && handleEvent.current?.(event));
    else if (checked.current === 0) void client.invalidateQueries({ queryKey: key, exact: true });
    checked.current = lastReceivedSeq();
  }, [client, key, known, questions]);
}

/** Returns the question as it is now. It stays in the section in which the list has it. */
const inPlace = (question: Question, now?: Question): Question => (now ? { ...now, section: question.section } : question);

/** The saved views: the reader's own and those that others share. */
export const viewsQuery = queryOptions({ queryKey: ['views'], queryFn: () => unwrap(api.GET('/v1/views')), staleTime: 5 * 60_000 });

/** Reads the number of questions that wait for the reader. */
export function useCounts() {
  return useQuery({
    queryKey: ['counts', 'me'],
    queryFn: () => unwrap(api.GET('/v1/questions/counts', { params: { query: { for: 'me' } } })),
    staleTime: 60_000,
  });
}

/** Returns the entries of the outbox, for the strip that shows them. */
export const useOutbox = () => useSyncExternalStore(onOutbox, outbox);
