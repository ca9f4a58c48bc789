import { Badge } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { followEvents } from '@/api/followEvents';
import { useText } from '@/shell/text';
import { unreadQuery, newsKey, mayBeNews } from './api';

/** Shows the number of unread notifications beside the name of their page. */
export function UnreadBadge() {
  const text = useText();
  const client = useQueryClient();
  const { data } = useQuery(unreadQuery);
  useEffect(() => followEvents(client, [...newsKey, 'unread'], mayBeNews), [client]);
  const unread = data?.unread ?? 0;
  if (unread === 0) return null;
  return <Badge size="sm" variant="default" circle={unread < 10} aria-label={text.unread(unread)}>{unread > 99 ? '99+' : unread}</Badge>;
}
