import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The server's policy allows nothing inline and nothing from elsewhere: every asset is a hashed file beside the page,
// named relatively so that the page works below any path.
export default defineConfig({
  base: './',
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
  },
})
