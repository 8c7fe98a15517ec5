import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The server's content policy allows no inline code and no other origin: each asset is a hashed file beside the page,
// with a relative path, so that the page works below any path.
export default defineConfig({
  base: './',
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    // Libraries in a file of their own, which a browser keeps over releases of the page.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'libraries', test: /node_modules/ }] } } },
  },
})
