// A stand-in for GitHub, which a journey starts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Starts the stand-in. A channel with the returned settings uses it. */
export async function startGitHub() {
  const child = spawn('go', ['run', '-trimpath', './github'], { cwd: import.meta.dirname, stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(([code]) => { throw new Error(`the stand-in of GitHub ended with ${code}`); }),
  ]);
  const say = (...words) => child.stdin.write(`${words.join(' ')}\n`);
  return {
    settings: JSON.parse(line),
    inbound: (url) => say('inbound', url),
    label: (login, issue, name) => say('label', login, issue, name),
    async stop() {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}
