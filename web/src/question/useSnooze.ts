import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { Question } from '@/api/types';
import { showQuestion } from './queries';

/** Takes questions out of the reader's inbox until an instant, or puts them back without one. */
export function useSnooze(questions: readonly Question[], onDone?: (until: string | undefined) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (until: string | undefined) => {
      for (const { id } of questions) {
        showQuestion(client, (await unwrap(api.POST('/v1/questions/{id}/snooze', { params: { path: { id } }, body: until ? { until } : {} }))));
      }
    },
    onSuccess: (_, until) => {
      void client.invalidateQueries({ queryKey: ['counts'] });
      onDone?.(until);
    },
  });
}
