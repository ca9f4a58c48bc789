import { describe, expect, it } from 'vitest';
import type { GateRule } from '@/api/types';
import { checkRule, newRule, ruleState, type RuleValues } from './rule';

const words = { needed: 'needed', tooLong: (most: number) => `most ${most}`, notADuration: 'time', pathTwice: 'twice', notAPath: 'no path', usesWrong: 'uses' };
const good: RuleValues = { decision: 'allow', tool: 'Bash', args: [], target: 'everywhere', targetName: '', limited: false, uses: 1, risk: '', reason: '', expires_in: 'never' };
const status = { path: 'command', pattern: 'git status*' };

describe('a new rule', () => {
  it.each<[Partial<RuleValues>, object]>([
    [{}, {}],
    [{ tool: '' }, { tool: 'needed' }],
    [{ args: [status] }, {}],
    [{ args: [status, status] }, { 'args[1].path': 'twice' }],
    [{ args: [{ path: 'edits..path', pattern: '' }] }, { 'args[0].path': 'no path' }],
    [{ args: [{ path: '', pattern: 'x' }] }, { 'args[0].path': 'no path' }],
    [{ target: 'project' }, { project: 'needed' }],
    [{ limited: true, uses: 0 }, { uses: 'uses' }],
    [{ decision: 'deny', limited: true, uses: 0 }, {}],
    [{ expires_in: '' }, { expires_in: 'time' }],
  ])('with %j has the faults %j', (change, errors) => expect(checkRule({ ...good, ...change }, words)).toEqual(errors));

  it('says only what goes with what it does', () => {
    const all: RuleValues = { ...good, args: [status], target: 'project', targetName: 'shop', limited: true, uses: 5, risk: 'high', reason: 'reads only', expires_in: '8h' };
    const common = { tool: 'Bash', args: { command: 'git status*' }, project: 'shop', reason: 'reads only', expires_in: '8h' };
    expect(newRule(all)).toEqual({ ...common, decision: 'allow', uses: 5 });
    expect(newRule({ ...all, decision: 'ask' })).toEqual({ ...common, decision: 'ask', risk: 'high' });
    expect(newRule({ ...all, decision: 'deny' })).toEqual({ ...common, decision: 'deny' });
  });
});

it('is used up when its calls are', () => {
  const rule: GateRule = { id: 'r', workspace_id: 'w', owner: { kind: 'human' }, used: 4, uses: 5, created_at: '2026-01-01T00:00:00Z', tool: 'Bash', decision: 'allow' };
  expect(ruleState(rule, 0)).toBe('good');
  expect(ruleState({ ...rule, used: 5 }, 0)).toBe('spent');
  expect(ruleState({ ...rule, uses: 0 }, 0)).toBe('good');
  expect(ruleState({ ...rule, expires_at: '2026-01-02T00:00:00Z' }, Date.parse('2026-01-02T00:00:00Z'))).toBe('expired');
});
