import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { afterEach, beforeEach, vi } from 'vitest';
import type { Question, Whoami } from '@/api/types';

/** One request that a page sent. */
export interface Call {
  path: string;
  key: string | null;
  member: string | null;
  body: string;
}

/** The server as a page sees it: the calls that reached it, and its next replies. Without a reply, it accepts a call. */
export class Server {
  readonly calls: Call[] = [];
  private readonly replies: (() => Promise<Response>)[] = [];

  /** Sets the next reply. It is sent when `ready` settles. */
  reply(status: number, body: unknown, ready: Promise<unknown> = Promise.resolve()): void {
    this.replies.push(async () => {
      await ready;
      return jsonReply(status, body);
    });
  }

  refuse(status: number, code: string, more: Record<string, unknown> = {}): void {
    this.reply(status, { code, status, detail: `refused: ${code}`, ...more });
  }

  /** Lets the next call reach the server, and cuts the connection before the reply. */
  cutConnection(): void {
    this.replies.push(() => {
      setOnline(false);
      return Promise.reject(new TypeError('the connection was cut'));
    });
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    this.calls.push({ path: pathname, key: request.headers.get('Idempotency-Key'), member: request.headers.get('Fermata-Member'), body: await request.text() });
    const reply = this.replies.shift();
    return reply ? reply() : jsonReply(200, askedQuestion({ id: pathname.split('/')[3] ?? '', status: 'answered' }));
  };
}

const jsonReply = (status: number, body: unknown) => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });

export const askedQuestion = (more: Partial<Question> = {}): Question => ({
  id: 'q_1', task_id: 'task_1', project: 'default', type: 'blocking', status: 'pending', title: 'Which colour?', items: [{ key: 'colour', prompt: 'Which colour?', response_type: 'text' }],
  timeout: '30m', priority: 2, risk: 'low', ask_count: 1, asked_by: { kind: 'agent' }, created_at: '2026-11-21T12:00:00Z', workspace_id: 'w', ...more,
});

/** Connects the browser or disconnects it. The page is notified of it. */
export function setOnline(online: boolean): void {
  vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(online);
  dispatchEvent(new Event(online ? 'online' : 'offline'));
}

type Page = Awaited<ReturnType<typeof importPage>>;

async function importPage() {
  vi.resetModules();
  const [outbox, held, { useAnswer }, draft, { queryClient, whoamiQuery }, { recordOwner }, { questionQuery }] = await Promise.all([
    import('@/outbox/outbox'), import('@/question/held'), import('@/question/useAnswer'), import('@/question/draft'), import('@/api/queries'), import('@/offline/owner'), import('@/question/queries'),
  ]);
  return {
    ...outbox, ...held, ...draft, useAnswer,
    signIn: (name: string) => {
      recordOwner(name);
      queryClient.setQueryData(whoamiQuery.queryKey, { name } as Whoami);
    },
    shownQuestion: (id: string) => queryClient.getQueryData(questionQuery(id).queryKey),
  };
}

/**
 * Gives each test of the file a new browser and a server. The returned function opens a page for a person: the real
 * modules, loaded again as by a reload, over what earlier pages of the test stored.
 */
export function prepareBrowser() {
  const pages: Page[] = [];
  const browser = {
    server: new Server(),
    openPage: async (person: string) => {
      const page = await importPage();
      pages.push(page);
      page.signIn(person);
      return page;
    },
  };
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
    browser.server = new Server();
    vi.stubGlobal('fetch', (request: Request) => browser.server.fetch(request));
  });
  afterEach(async () => {
    vi.useRealTimers();
    // The listeners of a page outlive it, so it must have nothing left to send.
    for (const page of pages.splice(0)) for (const entry of page.outbox()) await page.dismiss(entry);
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    sessionStorage.clear();
  });
  return browser;
}
