// The browser that all journeys share. It says its address and lives until its input ends.
import { launchShared } from './browser.mjs';

const server = await launchShared();
console.log(server.wsEndpoint());
process.stdin.resume();
process.stdin.on('end', () => server.close().finally(() => process.exit()));
