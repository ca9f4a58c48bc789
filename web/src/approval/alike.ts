import type { Question } from '@/api/types';
import { mayAnswer } from '@/question/queries';

/** Whether an approval may be decided together with others. */
export function isHarmless(question: Question): boolean {
  return (
    question.type === 'approval' && question.status === 'pending' && !question.held && mayAnswer(question) &&
    (question.risk === 'low' || question.risk === 'medium') && (question.approvals?.required ?? 1) < 2 && !question.needs_signature &&
    !question.items.some((item) => item.options?.some((option) => typeof option !== 'string' && option.danger))
  );
}

/** What kind of thing would run: the tool, else the names of the action's parts. */
export function kindOf(question: Question): string {
  const action = question.action;
  if (typeof action !== 'object' || action === null) return typeof action;
  const tool = (action as Record<string, unknown>).tool ?? (action as Record<string, unknown>).tool_name;
  return typeof tool === 'string' ? `tool ${tool}` : Object.keys(action).sort().join(' ');
}

/** The approvals that may be decided together with this one; itself among them. */
export function alike(questions: readonly Question[], question: Question): Question[] {
  if (!isHarmless(question)) return [];
  const kind = kindOf(question);
  return questions.filter((each) => isHarmless(each) && each.project === question.project && each.risk === question.risk && kindOf(each) === kind).slice(0, 100);
}
