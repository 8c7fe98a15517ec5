import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The server's content policy allows no inline code and no other origin: each asset is a hashed file beside the page,
// with a relative path, so that the page works below any path.
export default defineConfig({
  base: './',
  plugins: [react()],
  worker: { format: 'es' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    // What every screen needs is in a file of its own, which a browser keeps over releases of the page. Other libraries go
    // where they are used, so that those of lazy parts, such as formulas, are loaded with them.
    rolldownOptions: {
      // The second page draws diagrams in a frame, which is loaded when a person asks for one.
      input: ['index.html', 'diagram.html'],
      output: {
        codeSplitting: { groups: [{ name: 'libraries', test: /node_modules\/(react|react-dom|scheduler|zod)\// }] },
      },
    },
  },
})
