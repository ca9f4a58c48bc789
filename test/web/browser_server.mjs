// The browser that all journeys share. It prints its address and lives until its input ends.
import { launchShared } from './browser.mjs';

const server = await launchShared();
console.log(server.wsEndpoint());
process.stdin.resume();
process.stdin.on('end', () => server.close().finally(() => process.exit()));
