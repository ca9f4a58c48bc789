import { Problem } from './problem';
import { noteServerDate } from './time';

const passing = new Set([429, 502, 503, 504]);
const tries = 4;
const longestWait = 5_000;

/**
 * Sends a request again if no response came, or if the failure is temporary. A
 * POST carries its idempotency key, so the server does the work once, however
 * often the request arrives. Other writes are sent once.
 */
export async function fetchAgain(request: Request): Promise<Response> {
  const again = request.method === 'GET' || request.headers.has('Idempotency-Key');
  for (let attempt = 1; ; attempt++) {
    const last = !again || attempt === tries;
    const sent = Date.now();
    try {
      const response = await fetch(request.clone());
      noteServerDate(response.headers.get('Date'), sent, Date.now());
      if (last || !passing.has(response.status)) return response;
      await pause(waitOf(response) ?? backoff(attempt), request.signal);
    } catch (error) {
      if (request.signal.aborted) throw error;
      if (last || !navigator.onLine) throw new Problem({ code: 'offline', detail: 'The server cannot be reached.' });
      await pause(backoff(attempt), request.signal);
    }
  }
}

const backoff = (attempt: number) => 200 * 2 ** attempt * (0.75 + Math.random() / 2);

function waitOf(response: Response): number | undefined {
  const seconds = Number(response.headers.get('Retry-After'));
  return seconds > 0 ? Math.min(seconds * 1000, longestWait) : undefined;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    });
  });
}
