import type { NewTask } from './api';

/**
 * Returns the command that creates the same task in a terminal, quoted for
 * POSIX shells. A text that begins with @ would name a file, so it is passed
 * through a pipe.
 */
export function createCommand(task: NewTask): string {
  const parts = ['fermata create'];
  const flag = (name: string, value: string | number | undefined) => {
    if (value !== undefined && value !== '') parts.push(`--${name}=${quote(String(value))}`);
  };
  let pipe = '';
  if (task.body?.startsWith('@')) {
    pipe = `printf %s ${quote(task.body)} | `;
    parts.push('--body=@-');
  } else flag('body', task.body);
  flag('project', task.project);
  flag('parent', task.parent_id);
  task.blocked_by?.forEach((id) => flag('blocked-by', id));
  flag('priority', task.priority);
  flag('size', task.size);
  flag('agent', task.agent);
  flag('runner', task.runner);
  task.labels?.forEach((label) => flag('label', label));
  if (task.spec !== undefined) flag('spec', JSON.stringify(task.spec));
  flag('defer', task.defer_until);
  flag('max-attempts', task.max_attempts);
  // A title may begin like a flag.
  parts.push(task.title.startsWith('-') ? `-- ${quote(task.title)}` : quote(task.title));
  return pipe + parts.join(' ');
}

/** Returns a word, in quotes if a POSIX shell needs them. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The content of the form, all of it as text. */
export interface Form {
  title: string;
  body: string;
  project: string;
  priority: string;
  agent: string;
  runner: string;
  size: string;
  labels: string[];
  blockedBy: string;
  parent: string;
  deferUntil: string;
  attempts: string;
  spec: string;
}

export const emptyForm: Form = {
  title: '', body: '', project: '', priority: '2', agent: '', runner: '', size: '', labels: [], blockedBy: '', parent: '', deferUntil: '', attempts: '', spec: '',
};

const sizes = ['small', 'medium', 'large'] as const;

/** Returns the task that the form describes. Empty fields and default values are left out. */
export function taskOf(form: Form): NewTask {
  const text = (value: string) => value.trim() || undefined;
  const ids = form.blockedBy.split(/[\s,]+/).filter(Boolean);
  const until = form.deferUntil ? new Date(form.deferUntil) : undefined;
  const task: NewTask = {
    title: form.title.trim(),
    body: form.body.trim() === '' ? undefined : form.body,
    project: text(form.project),
    parent_id: text(form.parent),
    blocked_by: ids.length > 0 ? ids : undefined,
    priority: form.priority === '2' ? undefined : Number(form.priority),
    size: sizes.find((size) => size === form.size),
    agent: text(form.agent),
    runner: text(form.runner),
    labels: form.labels.length > 0 ? form.labels : undefined,
    spec: specOf(form.spec),
    defer_until: until && !Number.isNaN(until.getTime()) ? until.toISOString() : undefined,
    max_attempts: form.attempts === '' ? undefined : Number(form.attempts),
  };
  return task;
}

export function specOf(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
