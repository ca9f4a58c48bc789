import { queryOptions } from '@tanstack/react-query';
import { api, need } from '@/api/client';
import type { Question } from '@/api/types';
import { lastQuestion } from '@/offline/last';
import { asProblem } from '@/api/problem';

/** One question; without a connection, as it was last seen. */
export const questionQuery = (id: string) =>
  queryOptions({
    queryKey: ['questions', 'one', id],
    queryFn: async () => {
      try {
        return (await need(api.GET('/v1/questions/{id}', { params: { path: { id } } })));
      } catch (error) {
        const last = asProblem(error).offline ? await lastQuestion(id) : undefined;
        if (last) return last;
        throw error;
      }
    },
  });

/** Why the reader may not answer, as far as the page knows; the server decides. */
export const mayAnswer = (question: Question) => question.may_answer !== false;
