import type { RouteStep, Routes } from '@/api/types';
import { types, type SentType } from '@/delivery/text';
import type { Errors } from '../parts/useForm';

/** A step in the editor. Its key stays the same when it moves. */
export interface Step {
  key: string;
  after: string;
  channel: string;
  when: 'always' | 'page_closed';
}

export type Plan = Record<SentType, Step[]>;

let steps = 0;
const newKey = () => `step-${steps++}`;
export const newStep = (channel: string): Step => ({ key: newKey(), after: '5m', channel, when: 'always' });

/** Returns the routes for the editor. A step that was sent keeps its key. */
export function planOf(routes: Routes, sent?: Plan): Plan {
  const keyOf = (type: SentType, at: number) => sent?.[type][at]?.key ?? newKey();
  const stepsOf = (type: SentType) => routes[type].map(({ after, channel, when }, at): Step => ({ key: keyOf(type, at), after, channel, when: when ?? 'always' }));
  return Object.fromEntries(types.map((type) => [type, stepsOf(type)])) as Plan;
}

export function routesOf(plan: Plan): Routes {
  const stepsOf = (type: SentType): RouteStep[] => plan[type].map(({ after, channel, when }) => ({ after, channel, when }));
  return { blocking: stepsOf('blocking'), approval: stepsOf('approval'), error_recovery: stepsOf('error_recovery'), non_blocking: stepsOf('non_blocking'), progress: stepsOf('progress') };
}

/** Reports whether a text is a delay as the server reads it. "0s" means no delay. */
export const isDelay = (text: string) => /^(?:\d{1,3}d|(?:\d+(?:\.\d+)?(?:h|m|s))+)$/.test(text);

export function checkPlan(plan: Plan, words: { needed: string; notADuration: string }): Errors {
  const errors: Errors = {};
  for (const type of types) {
    plan[type].forEach(({ after, channel }, at) => {
      if (!isDelay(after)) errors[`${type}[${at}].after`] = words.notADuration;
      if (channel === '') errors[`${type}[${at}].channel`] = words.needed;
    });
  }
  return errors;
}

/** Returns the list with the element at a place moved by one. */
export function moveStep<T>(list: readonly T[], at: number, by: -1 | 1): T[] {
  const [here, there] = [list[at], list[at + by]];
  if (here === undefined || there === undefined) return [...list];
  return list.map((each, place) => (place === at ? there : place === at + by ? here : each));
}

/** Returns the step that the server names blocking[0], as its type and its number on the page. */
export function stepAt(name: string): { type: SentType; number: number } | undefined {
  const [, named, at] = /^(.+)\[(\d+)\]$/.exec(name) ?? [];
  const type = types.find((each) => each === named);
  return type && { type, number: Number(at) + 1 };
}
