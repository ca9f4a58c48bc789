import type { Task } from '@/api/types';
import type { Language } from '@/text/languages';
import { duration, timesIn } from '@/text/time';
import type { Run } from './api';
import type { WaitingText } from './waitingText';

export interface Reader {
  text: WaitingText;
  language: Language;
  now: number;
  /** The reader's own name, in the form in which assignees are named. */
  me?: string;
}

/** Returns one sentence: which people the task waits for, since when, until when, and what happens then. */
export function waitingSentence(task: Task, run: Run | undefined, reader: Reader): string {
  const { text } = reader;
  const since = sinceOf(task.waiting?.since ?? (task.state === 'in_progress' ? (run?.started_at ?? task.updated_at) : task.updated_at), reader);
  switch (task.state) {
    case 'awaiting_input':
    case 'awaiting_approval':
      return text.waitsFor(whoOf(task.waiting?.assignees, reader), since) + timeoutSentence(task, reader);
    case 'open':
      return task.no_worker ? text.hasNoWorker(since, whyNoWorker(task, text)) : text.isReady(since, task.agent ?? '');
    case 'input_received':
      return task.no_worker ? text.hasNoWorkerToGoOn(since, whyNoWorker(task, text)) : text.isReadyToGoOn(since);
    case 'blocked':
      return text.isBlocked(task.blocked_by?.length ?? 0, since);
    case 'deferred':
      return task.defer_until ? text.isDeferred(instantText(task.defer_until, reader)) : text.isDeferredForGood;
    case 'in_progress':
      return task.runner === 'external' ? text.ownWork(task.created_by.name ?? text.itsOwner, since) : workSentence(run, since, reader);
    case 'done':
      return text.ended.done(momentOf(task.updated_at, reader));
    default:
      return text.ended[task.state](momentOf(task.updated_at, reader), reasonOf(task.reason, text));
  }
}

function workSentence(run: Run | undefined, since: string, reader: Reader): string {
  const { text } = reader;
  const lease = run?.state === 'running' ? text.lease(timesIn(reader.language).clock(run.lease_until)) : '.';
  return text.isWorking(run?.worker ?? text.aWorker, since) + lease;
}

function timeoutSentence(task: Task, reader: Reader): string {
  const { text } = reader;
  const waiting = task.waiting;
  if (!waiting?.deadline) return text.noDeadline;
  const then = waiting.type === 'approval' && waiting.on_timeout === 'fail' ? 'reject' : (waiting.on_timeout ?? 'none');
  return text.ifNobody(instantText(waiting.deadline, reader), text.thens[then]);
}

/** Returns why none of the running workers takes a task. */
export function whyNoWorker(task: Task, text: WaitingText): string {
  switch (task.no_worker?.lacks) {
    case undefined:
      return '';
    case 'worker':
      return text.noneRuns;
    case 'runner':
      return text.noneDrives(task.runner ?? '');
    case 'isolation':
      return text.noneIsolates;
    case 'project':
      return text.noneOfProject(task.project);
    case 'agent':
      return text.noneOfRole(task.agent ?? '');
  }
}

/** Returns in words who may answer. */
export function whoOf(assignees: readonly string[] | undefined, { text, me }: Pick<Reader, 'text' | 'me'>): string {
  if (!assignees || assignees.length === 0) return text.anyone;
  const names = assignees.map((assignee) => {
    const [kind, name] = assignee.includes(':') ? [assignee.slice(0, assignee.indexOf(':')), assignee.slice(assignee.indexOf(':') + 1)] : ['member', assignee];
    if (kind === 'group') return text.group(name);
    if (kind === 'role') return text.role(name);
    return name === me ? text.you : name;
  });
  const last = names.pop() ?? '';
  return names.length > 0 ? `${names.join(', ')} ${text.or} ${last}` : last;
}

/** Returns a reason in words if it is a code of the server. A reason that a person wrote stays as it is. */
export function reasonOf(reason: string | undefined, text: WaitingText): string {
  const known: Record<string, string | undefined> = text.reasons;
  return reason ? (known[reason] ?? reason) : '';
}

/** Returns the clock time for today, and the date as well for another day. */
export function momentOf(at: string, { language, now }: Pick<Reader, 'language' | 'now'>): string {
  const times = timesIn(language);
  return new Date(at).toDateString() === new Date(now).toDateString() ? times.clock(at) : times.full(at);
}

const sinceOf = (at: string, reader: Reader) => reader.text.since(momentOf(at, reader), roughDuration(reader.now - Date.parse(at)));

function instantText(at: string, reader: Reader): string {
  return reader.text.by(momentOf(at, reader), timesIn(reader.language).relative(at, reader.now));
}

/** Returns a duration without seconds if it is a minute or longer, because people do not watch it run. */
export function roughDuration(ms: number): string {
  const minute = 60_000;
  return ms < minute ? duration(ms) : duration(Math.floor(ms / minute) * minute).replace(/^(\d+):00 min$/, '$1 min');
}
