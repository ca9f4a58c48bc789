// Writes src/api/schema.d.ts, the types of the API, from openapi.json, which
// the server itself printed.
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

const root = new URL('..', import.meta.url);
const document = JSON.parse(await readFile(new URL('openapi.json', root), 'utf8'));
const types = await openapiTS(document, { alphabetize: true, rootTypes: false });
await writeFile(new URL('src/api/schema.d.ts', root), `// Generated from the server's OpenAPI document.\n${astToString(types)}`);
