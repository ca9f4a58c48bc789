import type { Question } from '@/api/types';
import { awaitsReader } from '@/question/queries';

/** Reports whether an approval may be decided together with others. */
export function isHarmless(question: Question): boolean {
  return (
    question.type === 'approval' && question.status === 'pending' && !question.held && awaitsReader(question) &&
    (question.risk === 'low' || question.risk === 'medium') && (question.approvals?.required ?? 1) < 2 && !question.needs_signature &&
    !question.items.some((item) => item.options?.some((option) => typeof option !== 'string' && option.danger))
  );
}

/** Returns the kind of an action: the name of its tool, or else the names of its fields. */
export function kindOf(question: Question): string {
  const action = question.action;
  if (typeof action !== 'object' || action === null) return typeof action;
  const tool = (action as Record<string, unknown>).tool ?? (action as Record<string, unknown>).tool_name;
  return typeof tool === 'string' ? `tool ${tool}` : Object.keys(action).sort().join(' ');
}

/** Returns the approvals that may be decided together with this one, including itself. There are at most 100. */
export function batchOf(questions: readonly Question[], question: Question): Question[] {
  if (!isHarmless(question)) return [];
  const kind = kindOf(question);
  return questions.filter((each) => isHarmless(each) && each.project === question.project && each.risk === question.risk && kindOf(each) === kind).slice(0, 100);
}
