import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { findHome } from '../system/home.ts'
import { keyMark, registerKey } from '../system/secrets/known-keys.ts'
import type { CliContext } from './context/cli-context.ts'
import { runProgram } from './program.ts'
import { createOutput } from './terminal/output.ts'

const key = `made-program-${'X0'.repeat(12)}`
registerKey(key)

/** A place where everything that is written is gathered, and a terminal that breaks. */
function openPlace() {
  let written = ''
  const stream = new Writable({
    write(chunk, _, done) {
      written += String(chunk)
      done()
    },
  })
  const output = createOutput({ stream, isColoured: false, isVital: false })
  const environment = { HOLDFAST_HOME: '/nonexistent' }
  const place: CliContext = {
    ...{ environment, home: findHome(environment), store: undefined, version: '0', pageDir: '', pid: 1 },
    ...{ out: output, err: output, now: () => 0, cwd: () => '/' },
    input: () => {
      throw new Error(`broke on ${key}`)
    },
    untilInterrupted: () => new AbortController().signal,
    onCrash: () => undefined,
  }
  return { place, written: () => written }
}

it.each([
  ['what it does not understand', [key, '--json'], `Unknown command '${keyMark}'`],
  ['what it did not foresee', ['auth', 'login', 'openai', '--json'], `broke on ${keyMark}`],
])('says no key back in %s', async (_, argv, words) => {
  const { place, written } = openPlace()
  expect(await runProgram(argv, place)).not.toBe(0)
  expect(written()).toContain(words)
  expect(written()).not.toContain(key)
})
