import { queryOptions, type QueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { queryClient, whoamiQuery } from '@/api/queries';
import type { Question, Vote } from '@/api/types';
import { readStoredQuestion } from '@/offline/storedInbox';
import { asProblem } from '@/api/problem';

/** Reads one question. Without a connection, it returns the question as it was last seen. */
export const questionQuery = (id: string) =>
  queryOptions({
    queryKey: ['questions', 'one', id],
    queryFn: async () => {
      try {
        return (await unwrap(api.GET('/v1/questions/{id}', { params: { path: { id } } })));
      } catch (error) {
        const last = asProblem(error).offline ? await readStoredQuestion(id) : undefined;
        if (last) return last;
        throw error;
      }
    },
  });

/**
 * Shows a question as the server returned it after a change. A read in progress may bring an older version, so it is
 * repeated.
 */
export function showQuestion(client: QueryClient, question: Question): void {
  const { queryKey } = questionQuery(question.id);
  const reads = client.isFetching({ queryKey, exact: true }) > 0;
  client.setQueryData(queryKey, question);
  if (reads) void client.invalidateQueries({ queryKey, exact: true, refetchType: 'all' });
}

/** Reads the current state of a question. It cancels a read that began earlier. */
export async function readQuestion(client: QueryClient, id: string): Promise<Question> {
  const query = questionQuery(id);
  await client.cancelQueries({ queryKey: query.queryKey, exact: true });
  return client.query({ ...query, staleTime: 0 });
}

/** Reports whether the reader may answer, as far as the page knows. The server decides. */
export const mayAnswer = (question: Question) => question.may_answer !== false;

export const approvalsOf = (question: Question) => (question.votes ?? []).filter((vote) => vote.value === 'approve').length;

/** Returns the reader's vote, if the reader has voted. */
export function ownVote(question: Question): Vote | undefined {
  const me = queryClient.getQueryData(whoamiQuery.queryKey)?.member_id;
  return me === undefined ? undefined : question.votes?.find((vote) => vote.by.id === me);
}

/**
 * Reports whether an open question waits for an answer of the reader, by the same rule as the server: a vote stands,
 * unless as many as needed have approved and some of them could not answer for a while.
 */
export const awaitsReader = (question: Question) =>
  mayAnswer(question) && (ownVote(question) === undefined || approvalsOf(question) >= (question.approvals?.required ?? 1));

/** Reads which people may answer a question, and why others may not. */
export const decidersQuery = (id: string) =>
  queryOptions({ queryKey: ['deciders', id], queryFn: () => unwrap(api.GET('/v1/questions/{id}/deciders', { params: { path: { id } } })) });
