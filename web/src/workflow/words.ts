import type { WorkflowText } from './text';
import type { Run, Trigger } from './types';

/** Returns in a few words what starts runs. */
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

/** Returns the label of an edge in words. The value of an option stays as it is. */
export function edgeWords(label: string, words: WorkflowText): string {
  const known: Record<string, string | undefined> = words.labels;
  return known[label] ?? label;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const textOf = (value: unknown) => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '');

/** Returns a function that reads a value of the run's trigger by its name. */
export const causeOf = (run: Pick<Run, 'cause'>) => {
  const cause = isObject(run.cause) ? run.cause : {};
  return (key: string) => textOf(cause[key]);
};

/** Returns in words who or what started a run, and why. */
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

/**
 * Returns the title of a run. The server's title of a scheduled run has the time in the server's format. So titleOf
 * builds that title with the reader's format.
 */
export function titleOf(run: Pick<Run, 'cause' | 'trigger' | 'title' | 'workflow'>, when: (at: string) => string): string {
  const at = causeOf(run)('at');
  return run.trigger === 'schedule' && !Number.isNaN(Date.parse(at)) ? `${run.workflow}, ${when(at)}` : run.title;
}

const maxShown = 4;
const maxShownLength = 40;

// Names and numbers say more than switches, and switches say more than lists.
const weights = ['string', 'number', 'boolean', 'object'];
const weightOf = (value: unknown) => weights.indexOf(typeof value);

const shorten = (text: string) => (text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text);

/** Returns the inputs of a run on one line, so that readers can distinguish the runs of a workflow. */
export function inputWords(inputs: unknown): string {
  if (!isObject(inputs)) return '';
  const givenInputs = Object.entries(inputs).filter(([, value]) => value !== null && value !== undefined).sort(([, a], [, b]) => weightOf(a) - weightOf(b));
  const words = givenInputs.slice(0, maxShown).map(([name, value]) => `${name}: ${shorten(typeof value === 'string' ? value : JSON.stringify(value))}`);
  return [...words, ...(givenInputs.length > maxShown ? ['…'] : [])].join(' · ');
}

/** Returns why a run ended as it did. An unknown reason stays as it is. */
export function reasonWords(reason: string | undefined, words: WorkflowText): string {
  const known: Record<string, string | undefined> = words.reasons;
  return reason ? (known[reason] ?? reason) : '';
}
