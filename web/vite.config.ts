import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { type Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

interface Modules {
  getModuleInfo(id: string): { importedIds: readonly string[] } | null;
}

/** Returns the ids of the modules that the service worker is made of. */
function workerModules(modules: Modules): Set<string> {
  const found = new Set([source('./src/service-worker/sw.ts')]);
  for (const id of found) for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  return found;
}

/** Fails the build if src/mantine.css lacks the styles of a component in the bundle, or has those of a component that is not in it. */
function checkStyles(): Plugin {
  return {
    name: 'check-styles',
    apply: 'build',
    generateBundle(_, bundle) {
      const used = new Set(['baseline', 'default-css-variables', 'global']);
      for (const file of Object.values(bundle)) {
        for (const [id, module] of file.type === 'chunk' ? Object.entries(file.modules) : []) {
          const component = /\/@mantine\/core\/esm\/.*\/(\w+)\.module\.mjs$/.exec(id)?.[1];
          if (component && module.renderedLength > 0) used.add(component);
        }
      }
      const listed = new Set([...readFileSync(source('./src/mantine.css'), 'utf8').matchAll(/styles\/([\w-]+)\.css/g)].map((match) => match[1] ?? ''));
      const wrong = [...used, ...listed].filter((name) => !used.has(name) || !listed.has(name));
      if (wrong.length > 0) this.error(`src/mantine.css must name the styles of the components in use; look at ${wrong.join(', ')}`);
    },
  };
}

export default defineConfig({
  plugins: [react(), checkStyles()],
  resolve: { alias: { '@': source('./src') } },
  build: {
    target: 'es2023',
    // The browser evaluates light-dark() itself. A rewritten one would not follow the chosen scheme.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: source('./index.html'), sw: source('./src/service-worker/sw.ts') },
      output: {
        // The service worker keeps its name, because browsers request it again by this name.
        entryFileNames: (chunk) => (chunk.name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
        // What every page loads is one file, because many small files compress worse. The service worker stays a file
        // of its own, so it shares nothing.
        codeSplitting: { groups: [{ debugName: 'first', name: (id, context) => (workerModules(context).has(id) ? null : 'first'), tags: ['$initial'] }] },
      },
    },
  },
  // `npm run dev` works beside a running server.
  server: { proxy: { '/v1': { target: 'http://127.0.0.1:7433', changeOrigin: true } } },
  test: {
    environment: 'happy-dom',
    setupFiles: ['./src/test/setup.ts'],
    // A separate environment for each file would take longer than all tests together.
    isolate: false,
    // The limit is long, because a busy machine is slow. It only ends a test that hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
