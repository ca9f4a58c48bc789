import { onEvent, onReset } from '@/api/live';
import type { Event } from '@/api/types';
import { preferences } from '@/shell/preferences';
import { latestNews, mayBeNews, type News } from './api';
import { isReaderHere, newsToShow, removeNotification } from './browser';

const readDelay = 400;

/** Collects news from its start on. It shows nothing until `showWith` gives it a function that shows news. */
class NewsWatcher {
  /** Settles when it is known which news was old at the start. */
  readonly started: Promise<void>;
  /** The number of the last event that the reader saw or was notified of. */
  private lastTold: number | undefined;
  /**
   * The number of the first event that came while the reader looked elsewhere and that no read has covered yet, or
   * Infinity.
   */
  private firstUnseen = Infinity;
  private show: ((news: News) => Promise<void>) | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly stops: (() => void)[];

  constructor() {
    this.started = this.markLatestKnown();
    this.stops = [onEvent((event) => this.handleEvent(event)), onReset(() => this.handleGap())];
  }

  showWith(show: (news: News) => Promise<void>): void {
    this.show = show;
    this.scheduleRead();
  }

  stop(): void {
    this.stops.forEach((stop) => stop());
    clearTimeout(this.timer);
  }

  private handleEvent(event: Event): void {
    if (!mayBeNews(event.type)) return;
    if (event.question_id && /answered|timed_out|cancelled|held/.test(event.type)) removeNotification(event.question_id);
    // A reader who looks at the page when an event comes has seen this event and all earlier ones.
    if (isReaderHere()) {
      this.firstUnseen = Infinity;
      this.markKnown(event.seq);
    } else {
      this.firstUnseen = Math.min(this.firstUnseen, event.seq);
      this.scheduleRead();
    }
  }

  /** Handles a gap in the events. */
  private handleGap(): void {
    if (isReaderHere()) {
      this.firstUnseen = Infinity;
      void this.markLatestKnown();
    } else {
      this.scheduleRead();
    }
  }

  /** Marks the latest news as known, except for news that comes before the reply while the reader looks elsewhere. */
  private async markLatestKnown(): Promise<void> {
    try {
      const { items } = await latestNews();
      this.markKnown(Math.min(items[0]?.seq ?? 0, this.firstUnseen - 1));
    } catch {
      // The next event or gap corrects this.
    }
  }

  private markKnown(seq: number): void {
    this.lastTold = Math.max(this.lastTold ?? 0, seq);
  }

  private scheduleRead(): void {
    if (this.show) this.timer ??= setTimeout(() => void this.started.then(() => this.showNewest()).catch(() => undefined), readDelay);
  }

  private async showNewest(): Promise<void> {
    this.timer = undefined;
    const { items } = await latestNews();
    const newest = items[0]?.seq ?? 0;
    const after = this.lastTold ?? this.firstUnseen - 1;
    this.markKnown(newest);
    if (this.firstUnseen <= newest) this.firstUnseen = Infinity;
    for (const news of newsToShow(items, after, preferences().browserKinds)) await this.show?.(news);
  }
}

let watcher: NewsWatcher | undefined;

/** Returns the watcher that collects news, and starts it if there is none. */
export const startNewsWatcher = (): NewsWatcher => (watcher ??= new NewsWatcher());

export function stopNewsWatcher(): void {
  watcher?.stop();
  watcher = undefined;
}
