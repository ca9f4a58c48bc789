import { Problem } from './problem';
import { noteServerDate } from './time';

const temporaryStatuses = new Set([429, 502, 503, 504]);
const maxAttempts = 4;
const maxWait = 5_000;

/**
 * Sends a request again if no response came, or if the failure is temporary. A
 * POST carries its idempotency key, so the server does the work once, however
 * often the request arrives. Other writes are sent once.
 */
export async function fetchWithRetry(request: Request): Promise<Response> {
  const mayRepeat = request.method === 'GET' || request.headers.has('Idempotency-Key');
  for (let attempt = 1; ; attempt++) {
    const last = !mayRepeat || attempt === maxAttempts;
    const sent = Date.now();
    try {
      const response = await fetch(request.clone());
      noteServerDate(response.headers.get('Date'), sent, Date.now());
      if (last || !temporaryStatuses.has(response.status)) return response;
      await sleep(retryAfter(response) ?? backoff(attempt), request.signal);
    } catch (error) {
      if (request.signal.aborted) throw error;
      if (last || !navigator.onLine) throw new Problem({ code: 'offline', detail: 'The server cannot be reached.' });
      await sleep(backoff(attempt), request.signal);
    }
  }
}

const backoff = (attempt: number) => 200 * 2 ** attempt * (0.75 + Math.random() / 2);

function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get('Retry-After'));
  return seconds > 0 ? Math.min(seconds * 1000, maxWait) : undefined;
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    });
  });
}
