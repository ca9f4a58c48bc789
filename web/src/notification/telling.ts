import { onEvent, onReset } from '@/api/live';
import type { Event } from '@/api/types';
import { preferences } from '@/shell/preferences';
import { latestNews, mayBeNews, type News } from './api';
import { looks, toTell, withdraw } from './browser';

const soon = 400;

/** Collects news from its start on. It keeps the news until a call of `by` sets how they are shown. */
class Telling {
  /** Settles when it is known which news was old at the start. */
  readonly begun: Promise<void>;
  /** The number of the last event that the reader saw or was told of. */
  private told: number | undefined;
  /** The number of the first event that the reader did not see and that was not read since, or Infinity. */
  private unseen = Infinity;
  private tell: ((news: News) => Promise<void>) | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly stops: (() => void)[];

  constructor() {
    this.begun = this.knowLatest();
    this.stops = [onEvent((event) => this.hear(event)), onReset(() => this.miss())];
  }

  by(tell: (news: News) => Promise<void>): void {
    this.tell = tell;
    this.lookSoon();
  }

  stop(): void {
    this.stops.forEach((stop) => stop());
    clearTimeout(this.timer);
  }

  private hear(event: Event): void {
    if (!mayBeNews(event.type)) return;
    if (event.question_id && /answered|timed_out|cancelled|held/.test(event.type)) withdraw(event.question_id);
    // A reader who looks at the page when an event comes has seen this event and all earlier ones.
    if (looks()) {
      this.unseen = Infinity;
      this.know(event.seq);
    } else {
      this.unseen = Math.min(this.unseen, event.seq);
      this.lookSoon();
    }
  }

  /** Handles a gap in the events. */
  private miss(): void {
    if (looks()) {
      this.unseen = Infinity;
      void this.knowLatest();
    } else {
      this.lookSoon();
    }
  }

  /** Marks the latest news as known, except for news that comes unseen before the reply. */
  private async knowLatest(): Promise<void> {
    try {
      const { items } = await latestNews();
      this.know(Math.min(items[0]?.seq ?? 0, this.unseen - 1));
    } catch {
      // The next event or gap corrects this.
    }
  }

  private know(seq: number): void {
    this.told = Math.max(this.told ?? 0, seq);
  }

  private lookSoon(): void {
    if (this.tell) this.timer ??= setTimeout(() => void this.begun.then(() => this.look()).catch(() => undefined), soon);
  }

  private async look(): Promise<void> {
    this.timer = undefined;
    const { items } = await latestNews();
    const newest = items[0]?.seq ?? 0;
    const after = this.told ?? this.unseen - 1;
    this.know(newest);
    if (this.unseen <= newest) this.unseen = Infinity;
    for (const news of toTell(items, after, preferences().browserKinds)) await this.tell?.(news);
  }
}

let telling: Telling | undefined;

/** Starts to collect news, unless that has begun already. */
export const startTelling = (): Telling => (telling ??= new Telling());

export function stopTelling(): void {
  telling?.stop();
  telling = undefined;
}
