import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { '@': source('./src') } },
  build: {
    target: 'es2023',
    // light-dark() is left to the browser: rewritten, it would not follow the chosen scheme.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: source('./index.html'), sw: source('./src/worker/sw.ts') },
      output: {
        // The worker keeps its name: browsers ask for it again by that.
        entryFileNames: (chunk) => (chunk.name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
  // `npm run dev` beside a server that runs.
  server: { proxy: { '/v1': { target: 'http://127.0.0.1:7433', changeOrigin: true } } },
  test: {
    environment: 'happy-dom',
    setupFiles: ['./src/test/setup.ts'],
    // A page of its own for each file would take longer than all tests together.
    isolate: false,
    // The limit only ends what hangs: a busy machine is slow.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
