import { defineConfig } from 'vitest/config'

const project = (name: string, include: string[], testTimeout: number) => ({
  test: { name, include, testTimeout, hookTimeout: testTimeout },
})

export default defineConfig({
  test: {
    reporters: ['default', './test/closing-line.ts'],
    projects: [
      project('unit', ['packages/*/src/**/*.test.{ts,tsx}'], 20_000),
      project('architecture', ['test/architecture/**/*.test.ts'], 60_000),
      project('simulation', ['test/simulation/**/*.test.ts'], 240_000),
      project('e2e', ['test/e2e/**/*.test.ts'], 240_000),
    ],
  },
})
