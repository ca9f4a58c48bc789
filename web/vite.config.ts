import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  plugins: [react()],
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
