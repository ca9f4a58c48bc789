import type { GateRule, NewGateRule } from '@/api/types';
import { milliseconds } from '../parts/duration';
import type { Errors } from '../parts/useForm';

export const maxArgs = 20;
export const ruleTargets = ['everywhere', 'project', 'task_id', 'session_key'] as const;
export const risks = ['low', 'medium', 'high', 'critical'] as const;

export interface RuleValues {
  decision: NewGateRule['decision'];
  tool: string;
  args: { path: string; pattern: string }[];
  target: (typeof ruleTargets)[number];
  targetName: string;
  limited: boolean;
  uses: number;
  risk: NonNullable<NewGateRule['risk']> | '';
  reason: string;
  expires_in: string;
}

interface Words {
  needed: string;
  tooLong: (most: number) => string;
  notADuration: string;
  pathTwice: string;
  notAPath: string;
  usesWrong: string;
}

/** Checks a rule of the gate as the server does (`NewGateRule.Check`). */
export function checkRule(values: RuleValues, words: Words): Errors {
  const errors: Errors = {};
  if (values.tool === '') errors.tool = words.needed;
  if (values.tool.length > 200) errors.tool = words.tooLong(200);
  if (values.reason.length > 500) errors.reason = words.tooLong(500);
  values.args.forEach(({ path, pattern }, at) => {
    if (path.split('.').includes('')) errors[`args[${at}].path`] = words.notAPath;
    else if (values.args.findIndex((other) => other.path === path) !== at) errors[`args[${at}].path`] = words.pathTwice;
    if (pattern.length > 1000) errors[`args[${at}].pattern`] = words.tooLong(1000);
  });
  if (values.target !== 'everywhere' && values.targetName.trim() === '') errors[values.target] = words.needed;
  if (values.decision === 'allow' && values.limited && !(Number.isInteger(values.uses) && values.uses > 0)) errors.uses = words.usesWrong;
  if (values.expires_in !== 'never' && milliseconds(values.expires_in) === undefined) errors.expires_in = words.notADuration;
  return errors;
}

/** Returns the new rule for the values of the form, without empty and default fields. */
export function newRule(values: RuleValues): NewGateRule {
  const { decision, tool, args, target, targetName, limited, uses, risk, reason, expires_in } = values;
  return {
    decision, tool, expires_in,
    ...(args.length > 0 ? { args: Object.fromEntries(args.map(({ path, pattern }) => [path, pattern])) } : {}),
    ...(target === 'everywhere' ? {} : { [target]: targetName.trim() }),
    ...(decision === 'allow' && limited ? { uses } : {}),
    ...(decision === 'ask' && risk ? { risk } : {}),
    ...(reason ? { reason } : {}),
  };
}

/** Returns whether a rule applies, has expired or is used up. */
export function ruleState(rule: GateRule, now: number): 'good' | 'expired' | 'spent' {
  if (rule.expires_at && Date.parse(rule.expires_at) <= now) return 'expired';
  return rule.uses !== undefined && rule.uses > 0 && rule.used >= rule.uses ? 'spent' : 'good';
}
