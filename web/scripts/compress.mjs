// Writes a gzip copy beside every file that it makes at least 5 % smaller. It
// leaves .keep alone, which keeps the folder in place for builds without the
// interface.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const dist = new URL('../dist/', import.meta.url).pathname;
for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || entry.name === '.keep' || entry.name === 'index.html' || entry.name.endsWith('.gz')) continue;
  const path = join(entry.parentPath, entry.name);
  const whole = await readFile(path);
  const packed = gzipSync(whole, { level: 9 });
  if (packed.length < whole.length * 0.95) await writeFile(`${path}.gz`, packed);
}
