import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { buildProgram } from './test/test-build.ts'

// Each store a test opens starts two threads. A compile cache on disk halves their start.
process.env['NODE_COMPILE_CACHE'] ??= resolve(import.meta.dirname, 'node_modules/.cache/compiled')
// In watch mode the source changes between runs, so processes run the source.
if (process.argv.includes('run')) process.env['HOLDFAST_TEST_BUILD'] ??= await buildProgram()

const project = (name: string, include: string[], testTimeout: number, isolate = true, more = {}) => ({
  // A poll waits as long as its test may: on a busy machine a second is not enough.
  test: {
    name,
    include,
    testTimeout,
    hookTimeout: testTimeout,
    isolate,
    ...more,
    expect: { poll: { timeout: testTimeout } },
  },
})

export default defineConfig({
  test: {
    // Tests wait for disks and other processes a fifth of their time, so there is one worker more than cores.
    maxWorkers: availableParallelism() + 1,
    reporters: ['default', './test/slowest-files.ts', './test/closing-line.ts'],
    projects: [
      // Unit tests share their modules: reloading them for each of 300 files took a third of the time.
      project('unit', ['packages/*/src/**/*.test.{ts,tsx}', 'examples/**/*.test.ts', 'bench/*.test.ts'], 60_000, false),
      project('architecture', ['test/architecture/**/*.test.ts'], 60_000),
      project('simulation', ['test/simulation/**/*.test.ts'], 240_000),
      project('faults', ['test/faults/**/*.test.ts'], 120_000),
      project('hostile', ['test/hostile/**/*.test.ts'], 120_000),
      // In a browser on a busy machine a click is lost about once in a thousand tests; the same test then passes.
      project('e2e', ['test/e2e/**/*.test.ts'], 240_000, true, {
        retry: 2,
        globalSetup: './test/e2e/unpack-browser.ts',
      }),
      project('providers', ['test/providers/**/*.test.ts'], 120_000),
    ],
  },
})
