import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { notificationTypes } from '@/api/eventTypes';
import type { components } from '@/api/schema';
import type { EventType, Question } from '@/api/types';

type WireNotification = components['schemas']['Notification'];
/** A notification of the reader. */
export type News = Omit<WireNotification, 'question'> & { question?: Question };

export const newsKey = ['news'] as const;
const pageSize = 30;

const readNotifications = async (limit: number, cursor?: string, signal?: AbortSignal) => {
  const part = await unwrap(api.GET('/v1/notifications', { params: { query: { limit, cursor } }, signal }));
  return { ...part, items: part.items as News[] };
};

export const newsQuery = infiniteQueryOptions({
  queryKey: [...newsKey, 'list'],
  queryFn: ({ pageParam, signal }) => readNotifications(pageSize, pageParam || undefined, signal),
  initialPageParam: '',
  getNextPageParam: (part) => part.next_cursor,
});

/** The number of unread notifications, without reading them all. */
export const unreadQuery = queryOptions({ queryKey: [...newsKey, 'unread'], queryFn: ({ signal }) => readNotifications(1, undefined, signal) });

export const latestNews = () => readNotifications(10);

export const markRead = (upTo: number) => unwrap(api.POST('/v1/notifications/read', { body: { up_to: upTo } }));

/** The events that add a notification or change one: a held answer changes its question. */
const newsEvents: ReadonlySet<EventType> = new Set<EventType>([...notificationTypes, 'question.held', 'question.undone']);

/** Reports whether events of this type may add or change a notification. */
export const mayBeNews = (type: EventType) => newsEvents.has(type);
