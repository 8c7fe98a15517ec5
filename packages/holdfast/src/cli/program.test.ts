import { expect, it } from 'vitest'
import { findHome } from '../system/home.ts'
import { keyMark, registerKey } from '../system/secrets/known-keys.ts'
import { runProgram } from './program.ts'
import type { CliContext } from './terminal/cli-context.ts'
import { createTextOutput } from './testing/text-output.ts'

const key = `made-program-${'X0'.repeat(12)}`
registerKey(key)

/** A context whose output is collected, and whose standard input throws. */
function createContext() {
  const { output, text } = createTextOutput()
  const environment = { HOLDFAST_HOME: '/nonexistent' }
  const context: CliContext = {
    environment,
    home: findHome(environment),
    store: undefined,
    version: '0',
    pageDir: '',
    pid: 1,
    out: output,
    err: output,
    now: () => 0,
    cwd: () => '/',
    input: () => {
      throw new Error(`broke on ${key}`)
    },
    keyboard: () => null,
    untilInterrupted: () => new AbortController().signal,
    onCrash: () => undefined,
  }
  return { context, text }
}

it.each([
  ['a usage error', [key, '--json'], `Unknown command '${keyMark}'`],
  ['a crash', ['auth', 'login', 'openai', '--json'], `broke on ${keyMark}`],
])('masks keys in %s', async (_, argv, expected) => {
  const { context, text } = createContext()
  expect(await runProgram(argv, context)).not.toBe(0)
  expect(text()).toContain(expected)
  expect(text()).not.toContain(key)
})
