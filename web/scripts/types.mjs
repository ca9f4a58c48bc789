// Writes the types of the API and the lists of event types from openapi.json,
// which the server itself printed: src/api/schema.d.ts and src/api/eventTypes.ts.
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

const root = new URL('..', import.meta.url);
const document = JSON.parse(await readFile(new URL('openapi.json', root), 'utf8'));
const write = (path, text) => writeFile(new URL(path, root), `// Generated from the server's OpenAPI document.\n${text}`);

await write('src/api/schema.d.ts', astToString(await openapiTS(document, { alphabetize: true, rootTypes: false })));

const { EventType, NotificationType } = document.components.schemas;
await write('src/api/eventTypes.ts', Object.entries({ eventTypes: EventType, notificationTypes: NotificationType })
  .map(([name, schema]) => `export const ${name} = ${JSON.stringify(schema.enum, null, 2)} as const;\n`).join(''));
