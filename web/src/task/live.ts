import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { followEvents } from '@/api/followEvents';
import { anyTaskKey, taskListKey } from './api';

/** The events that can change a list of tasks. Lists show no progress reports. */
const listEvents = /^(task|question|run|message)\./;

export function useLiveLists(): void {
  const client = useQueryClient();
  useEffect(() => followEvents(client, taskListKey, (type) => listEvents.test(type)), [client]);
}

/** Follows the tasks on a page, and all new tasks, because these may be children of those. */
export function useLiveTasks(ids: readonly string[]): void {
  const client = useQueryClient();
  const all = ids.join(' ');
  useEffect(() => {
    const shown = new Set(all.split(' '));
    return followEvents(client, anyTaskKey, (type, task) => type === 'task.created' || (task !== undefined && shown.has(task)));
  }, [client, all]);
}
