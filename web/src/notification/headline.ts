import type { News } from './api';
import type { NewsText } from './text';

/** Returns a notification in a few words. An act of a timeout or a rule never looks like an act of a person. */
export function headline(news: Pick<News, 'type' | 'actor' | 'task'>, text: NewsText, me?: string): string {
  const { actor } = news;
  const named = actor.kind === 'human' || actor.kind === 'agent';
  const who = (named && actor.name && actor.name !== me && actor.name) || text.actors[actor.kind];
  switch (news.type) {
    case 'question.asked':
      return text.asks(who);
    case 'question.assigned':
      return text.gave(who);
    case 'question.escalated':
      return text.escalated;
    case 'question.answered':
      return text.answered(who);
    case 'question.timed_out':
      return text.timedOut;
    case 'question.cancelled':
      return text.cancelled(who);
    case 'question.answered_late':
      return text.late(who);
    case 'task.ended': {
      const ends: Record<string, string | undefined> = text.ended;
      return ends[news.task.state] ?? text.ended.other;
    }
  }
}
