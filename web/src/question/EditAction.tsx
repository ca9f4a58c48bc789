import { Suspense } from 'react';
import { indentJSON } from '@/api/exact';
import type { Question } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { IconButton } from '@/ui/IconButton';
import { lazyComponent } from '@/ui/lazyComponent';
import { Loading } from '@/ui/Loading';
import { useText } from './text';
import type { AnswerState } from './useAnswer';

const ActionEditor = lazyComponent(() => import('./ActionEditor').then((module) => module.ActionEditor));

/** Lets a person change what will run. The approval then covers exactly the changed bytes. */
export function EditAction({ question, answer }: { question: Question; answer: AnswerState }) {
  const text = useText();
  const open = answer.action !== undefined;
  const start = () => answer.setAction(indentJSON(question.action_text ?? ''));
  useCommands([{ id: 'edit', title: text.editApprove, group: text.group, keys: ['e'], run: start }], !open);
  if (!open) return <IconButton icon="edit" label={text.editApprove} keys="e" onClick={start} />;
  return <Suspense fallback={<Loading />}><ActionEditor question={question} answer={answer} /></Suspense>;
}
