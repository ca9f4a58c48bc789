// Servers on which people sign in, with the helpers that journeys need.
import assert from 'node:assert/strict';
import { item, startServerToStay, until, yesNo } from './harness.mjs';

/**
 * Starts a server on which people sign in. Its address has a host name, because passkeys do not work with an IP
 * address.
 */
export async function startTeam(args = []) {
  const server = await startServerToStay((port) => [...args, '--public-url', `http://localhost:${port}`]);
  // The lines after the address may take a moment.
  const told = (pattern) => until(() => server.said.map((line) => pattern.exec(line)?.[0]).find(Boolean) ?? assert.fail(`the server said no ${pattern}`));
  server.firstLink = await told(/\/sign-in#fml_\S+/);
  server.token = await told(/fmt_\w{38}/);
  await server.allowUndo(1);
  server.named = server.url.replace('127.0.0.1', 'localhost');
  return server;
}

/** Returns a new sign-in link for a member, as a path. The person who is signed in on the page creates it. */
export async function linkFor(page, handle) {
  const reply = await page.evaluate((who) => fetch(`/v1/members/${who}/links`, { method: 'POST' }).then((answer) => answer.json()), handle);
  const { pathname, hash } = new URL(reply.url);
  return pathname + hash;
}

/** Signs the browser in with a link, as a person does. */
export async function signIn(page, server, link) {
  await page.goto(server.named + link);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${server.named}/`);
}

/** Gives the page a device that holds passkeys and always agrees. */
export async function withPasskeys(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
  return { session, authenticatorId };
}

/** Creates questions of several kinds in two projects. Two people answer most of them. */
export async function someHistory(server) {
  const tokens = {};
  for (const member of ['ada', 'grace']) {
    const { secret } = await server.call('POST', '/v1/tokens', { name: `${member} at the desk`, kind: 'human', member, role: 'responder', scopes: ['answer', 'ask'] });
    tokens[member] = secret;
  }
  const ask = async (n, question) => {
    const task = await server.call('POST', '/v1/tasks', { title: `Task ${n}`, project: n % 2 ? 'shop' : 'docs', runner: 'external' });
    return server.call('POST', `/v1/tasks/${task.id}/questions`, { timeout: 'never', ...question });
  };
  const asked = [];
  for (let n = 0; n < 6; n++) asked.push(await ask(n, yesNo(`Deploy build ${n}?`)));
  for (let n = 0; n < 4; n++) asked.push(await ask(n, { type: 'blocking', title: 'Which database?', items: [item('choice', { options: ['SQLite', 'PostgreSQL'] })] }));
  for (const [n, { id }] of asked.entries()) {
    if (n === 9) await server.call('POST', `/v1/questions/${id}/cancel`, {});
    else if (n !== 5) {
      const who = n % 3 ? 'ada' : 'grace';
      await server.call('POST', `/v1/questions/${id}/answer`, { answer: n < 6 ? true : 'SQLite' }, { Authorization: `Bearer ${tokens[who]}` });
    }
  }
  return { asked, tokens };
}
