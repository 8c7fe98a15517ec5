import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

// Every store a test opens starts two threads, which would compile their modules anew: kept, that is half the time.
process.env['NODE_COMPILE_CACHE'] ??= resolve(import.meta.dirname, 'node_modules/.cache/compiled')

const project = (name: string, include: string[], testTimeout: number, isolate = true) => ({
  test: { name, include, testTimeout, hookTimeout: testTimeout, isolate },
})

export default defineConfig({
  test: {
    // Most tests wait for disks and for other processes: a core kept free would idle.
    maxWorkers: availableParallelism(),
    reporters: ['default', './test/closing-line.ts'],
    projects: [
      // These share their modules: loading them anew for each of 300 files took as long as a third of the tests.
      project('unit', ['packages/*/src/**/*.test.{ts,tsx}'], 20_000, false),
      project('architecture', ['test/architecture/**/*.test.ts'], 60_000),
      project('simulation', ['test/simulation/**/*.test.ts'], 240_000),
      project('faults', ['test/faults/**/*.test.ts'], 120_000),
      project('e2e', ['test/e2e/**/*.test.ts'], 240_000),
      project('providers', ['test/providers/**/*.test.ts'], 120_000),
    ],
  },
})
