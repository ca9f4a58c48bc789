// Packs every file by gzip that becomes at least 5 % smaller, so that the
// program holds it once. The server unpacks it for clients without gzip. Two
// files stay as they are: index.html, which differs in every reply, and .keep,
// which keeps the folder in place for builds without the interface.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const dist = new URL('../dist/', import.meta.url).pathname;
for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || entry.name === '.keep' || entry.name === 'index.html' || entry.name.endsWith('.gz')) continue;
  const path = join(entry.parentPath, entry.name);
  const whole = await readFile(path);
  const packed = gzipSync(whole, { level: 9 });
  if (packed.length >= whole.length * 0.95) continue;
  await writeFile(`${path}.gz`, packed);
  await rm(path);
}
