import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { Question } from '@/api/types';
import { showQuestion } from './queries';

/** Takes a question out of the reader's inbox until an instant, or puts it back without one. */
export function useSnooze(question: Question, onDone?: (next: Question) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (until: string | undefined) => unwrap(api.POST('/v1/questions/{id}/snooze', { params: { path: { id: question.id } }, body: until ? { until } : {} })),
    onSuccess: (next: Question) => {
      showQuestion(client, next);
      void client.invalidateQueries({ queryKey: ['counts'] });
      onDone?.(next);
    },
  });
}
