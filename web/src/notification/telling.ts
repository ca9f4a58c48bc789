import { onEvent, onReset } from '@/api/live';
import type { Event } from '@/api/types';
import { preferences } from '@/shell/preferences';
import { latestNews, mayBeNews, type News } from './api';
import { looks, toTell, withdraw } from './browser';

const soon = 400;

/** Hears of news from its start on. It keeps them until `by` says who shows them. */
class Telling {
  /** Settles when it is known what was old at the start. */
  readonly begun: Promise<void>;
  /** The number of the last event that the person knows of or was told of. */
  private told: number | undefined;
  private tell: ((news: News) => Promise<void>) | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly stops: (() => void)[];

  constructor() {
    // If an event comes before this reply, all news before the event is old.
    this.begun = latestNews().then(({ items }) => void (this.told ??= items[0]?.seq ?? 0), () => undefined);
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
    // Who looked when it happened has seen it.
    if (looks()) {
      this.know(event.seq);
    } else {
      this.told ??= event.seq - 1;
      this.lookSoon();
    }
  }

  /** Events may have been missed. */
  private miss(): void {
    if (looks()) void latestNews().then(({ items }) => this.know(items[0]?.seq ?? 0), () => undefined);
    else this.lookSoon();
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
    const after = this.told ?? Infinity;
    this.know(items[0]?.seq ?? 0);
    for (const news of toTell(items, after, preferences().browserKinds)) await this.tell?.(news);
  }
}

let telling: Telling | undefined;

/** Starts to hear of news, unless that is done already. */
export const startTelling = (): Telling => (telling ??= new Telling());

export function stopTelling(): void {
  telling?.stop();
  telling = undefined;
}
