import type { Run, Trigger } from './api';
import type { WorkflowText } from './text';

/** What starts runs, in a few words. */
export function triggerWords({ type, text = '' }: Trigger, words: WorkflowText): string {
  switch (type) {
    case 'schedule':
      return words.trigger.schedule(text);
    case 'label_added':
      return words.trigger.label_added(text);
    case 'deployment':
      return words.trigger.deployment(text);
    case 'event':
      return words.trigger.event(text);
    default:
      return words.trigger[type];
  }
}

/** Why there is an edge; the value of an option stands as it is. */
export function edgeWords(label: string, words: WorkflowText): string {
  const known: Record<string, string | undefined> = words.labels;
  return known[label] ?? label;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const textOf = (value: unknown) => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '');

/** What the trigger of a run knew, by name. */
export const causeOf = (run: Pick<Run, 'cause'>) => {
  const cause = isObject(run.cause) ? run.cause : {};
  return (key: string) => textOf(cause[key]);
};

/** Who or what started a run, and why. */
export function causeWords(run: Pick<Run, 'cause' | 'trigger' | 'started_by'>, words: WorkflowText, when: (at: string) => string): string {
  const cause = causeOf(run);
  switch (run.trigger) {
    case 'manual':
      return words.by.manual(run.started_by?.name || cause('by') || words.somebody);
    case 'schedule':
      return words.by.schedule(Number.isNaN(Date.parse(cause('at'))) ? cause('at') : when(cause('at')));
    case 'label_added':
      return words.by.label_added(cause('label'), `${cause('repository')}#${cause('issue')}`);
    case 'deployment':
      return words.by.deployment(cause('repository'), cause('environment'));
    case 'event':
      return words.by.event(cause('event'));
    case 'workflow':
      return words.by.workflow(cause('workflow'));
    default:
      return words.by.webhook;
  }
}

/** What a run is called. The server's title of a planned one has the time as the server writes it. */
export function titleOf(run: Pick<Run, 'cause' | 'trigger' | 'title' | 'workflow'>, when: (at: string) => string): string {
  const at = causeOf(run)('at');
  return run.trigger === 'schedule' && !Number.isNaN(Date.parse(at)) ? `${run.workflow}, ${when(at)}` : run.title;
}

const mostShown = 4;
const longestShown = 40;

// Names and numbers tell more than switches, and both more than lists.
const weights = ['string', 'number', 'boolean', 'object'];
const weightOf = (value: unknown) => weights.indexOf(typeof value);

const shortened = (text: string) => (text.length > longestShown ? `${text.slice(0, longestShown)}…` : text);

/** What a run was given, on one line: it tells runs of one workflow apart. */
export function givenWords(inputs: unknown): string {
  if (!isObject(inputs)) return '';
  const given = Object.entries(inputs).filter(([, value]) => value !== null && value !== undefined).sort(([, a], [, b]) => weightOf(a) - weightOf(b));
  const words = given.slice(0, mostShown).map(([name, value]) => `${name}: ${shortened(typeof value === 'string' ? value : JSON.stringify(value))}`);
  return [...words, ...(given.length > mostShown ? ['…'] : [])].join(' · ');
}

/** Why a run ended as it did. A reason that is not known stands as it is. */
export function reasonWords(reason: string | undefined, words: WorkflowText): string {
  const known: Record<string, string | undefined> = words.reasons;
  return reason ? (known[reason] ?? reason) : '';
}
