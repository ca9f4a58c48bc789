import { expect, it } from 'vitest';
import { layOutGraph } from './graphLayout';
import type { Graph } from './types';

const step = (id: string, kind: Graph['nodes'][number]['kind'] = 'step') => ({ id, kind });
const nodes = [step('start', 'start'), step('prepare'), step('ask', 'question'), step('ask.on_timeout', 'timeout'), step('publish'), step('tidy'), step('end', 'end')];
const edges = [
  { from: 'start', to: 'prepare' }, { from: 'prepare', to: 'ask' }, { from: 'ask', to: 'publish', label: 'ship' }, { from: 'ask', to: 'publish', label: 'answered' },
  { from: 'ask', to: 'prepare', label: 'again', back: true }, { from: 'ask', to: 'tidy', label: 'stop' }, { from: 'ask', to: 'ask.on_timeout', label: 'timed out' },
  { from: 'ask.on_timeout', to: 'end' }, { from: 'publish', to: 'tidy' }, { from: 'tidy', to: 'end' },
];

it('puts one step below the other, and what a timeout does into its step', () => {
  const { rows } = layOutGraph({ nodes, edges });
  expect(rows.map((row) => row.node.id)).toEqual(['start', 'prepare', 'ask', 'publish', 'tidy', 'end']);
  expect(rows[2]?.timeouts.map(({ node }) => node.id)).toEqual(['ask.on_timeout']);
});

it('tells the way on from the ways that jump', () => {
  const [, , ask] = layOutGraph({ nodes, edges }).rows;
  expect(ask?.next).toEqual(['ship', 'answered']);
  expect(ask?.jumps.map(({ to, label, back }) => [to, label, back])).toEqual([['prepare', 'again', true], ['tidy', 'stop', false]]);
  expect(ask?.timeouts[0]?.jumps.map(({ to }) => to)).toEqual(['end']);
});

it('gives lines that would touch tracks of their own, the short ones inside', () => {
  const { left, right, rows } = layOutGraph({ nodes, edges });
  expect([left, right]).toEqual([1, 2]);
  expect(rows[2]?.jumps[1]?.track).toBe(0);
  expect(rows[2]?.timeouts[0]?.jumps[0]?.track).toBe(1);
});

it('has one line for all ways to the same step', () => {
  const many = layOutGraph({ nodes: ['a', 'b', 'c', 'd', 'e'].map((id) => step(id)), edges: ['a', 'b', 'c'].map((from) => ({ from, to: 'e', label: 'failed' })) });
  expect(many.right).toBe(1);
  expect(many.rows.every((row) => row.next === undefined)).toBe(true);
});

it('knows a way back by itself, also to the same step', () => {
  const { rows, left } = layOutGraph({ nodes: [step('a'), step('b')], edges: [{ from: 'b', to: 'b', label: 'retry' }] });
  expect(rows[1]?.jumps[0]?.back).toBe(true);
  expect(left).toBe(1);
});

it('says where each list of what is done at the end begins', () => {
  const of = (id: string, phase?: 'on_success' | 'on_failure' | 'finally') => ({ ...step(id), phase });
  const { rows } = layOutGraph({ nodes: [step('start', 'start'), of('a'), of('b', 'on_success'), of('c', 'on_success'), of('d', 'finally'), step('end', 'end')], edges: [] });
  expect(rows.map(({ begins }) => begins)).toEqual([undefined, undefined, 'on_success', undefined, 'finally', undefined]);
});
