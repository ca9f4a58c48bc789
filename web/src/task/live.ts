import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { followEvents } from '@/api/followEvents';
import { anyTaskKey, taskListKey } from './api';

/** The events that change lists. Lists do not show progress, and members and tokens are not tasks. */
const listEvents = /^(task|question|run|message)\./;

export function useLiveLists(): void {
  const client = useQueryClient();
  useEffect(() => followEvents(client, taskListKey, (type) => listEvents.test(type)), [client]);
}

/** Follows the tasks on a page, and new tasks, which may belong below them. */
export function useLiveTasks(ids: readonly string[]): void {
  const client = useQueryClient();
  const all = ids.join(' ');
  useEffect(() => {
    const shown = new Set(all.split(' '));
    return followEvents(client, anyTaskKey, (type, task) => type === 'task.created' || (task !== undefined && shown.has(task)));
  }, [client, all]);
}
