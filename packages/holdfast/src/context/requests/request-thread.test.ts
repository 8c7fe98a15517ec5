import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ModelRequest, Problem, RequestAsked } from '@holdfast/core/ports'
import { aSession } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRequestThread } from './request-thread.ts'

let home = ''
let problems: Problem[] = []
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-requests-'))
  problems = []
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const onProblem = (problem: Problem) => void problems.push(problem)

const asked: RequestAsked = {
  session: aSession,
  line: [{ from: 1, to: null }],
  seq: 9,
  checkpoint: null,
  pins: [],
  model: 'sim/model',
  thinkingLevel: 'off',
  system: 'Be kind.',
  tools: [],
}
const requestNamed = (text: string): ModelRequest => ({
  model: 'sim/model',
  thinkingLevel: 'off',
  system: 'Be kind.',
  tools: [],
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
})

/** A thread that answers with the seq it is asked for, and dies of seq 13. Whatever is built here says so. */
function mortalThread(script = mortal) {
  const file = join(home, 'mortal.mjs')
  writeFileSync(file, script)
  const builds: number[] = []
  const here = {
    async build({ seq }: RequestAsked) {
      builds.push(seq)
      return requestNamed('here')
    },
  }
  const source = { path: join(home, 'store.db'), blobsDir: home }
  const thread = createRequestThread({ source, here, onProblem, script: pathToFileURL(file) })
  const ask = (seq: number) => thread.build({ ...asked, seq })
  const untilUp = async () => {
    for (let before = -1; before !== builds.length; ) {
      before = builds.length
      await ask(1)
      await new Promise((next) => setImmediate(next)) // lets its first word in
    }
  }
  return { thread, ask, untilUp, builds }
}

const mortal = `
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', (message) => {
    if (message === null) return parentPort.close()
    const { number, asked } = message
    if (asked.seq === 13) throw new Error('out of memory')
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'there ' + asked.seq + asked.system }] }]
    const { model, thinkingLevel, system, tools } = asked
    parentPort.postMessage({ number, built: { type: 'built', request: { model, thinkingLevel, system, tools, messages } } })
  })
  parentPort.postMessage('up')`

describe('the request thread', () => {
  it('builds requests on the main thread until it is up', async () => {
    const { thread, ask, untilUp } = mortalThread()
    expect(await ask(1)).toEqual(requestNamed('here'))
    await untilUp()
    expect(await ask(2)).toEqual(requestNamed('there 2'))
    await thread.close()
  })

  it('asks again if the file of the store was changed, because the writer has saved its records', async () => {
    const lost = { code: 'storage_error', message: 'gone', details: { reason: 'log_removed' } }
    const { thread, ask, untilUp } = mortalThread(
      mortal.replace(
        'const messages',
        `globalThis.tries = (globalThis.tries ?? 0) + (asked.seq === 7 ? 1 : 0)
    if (asked.seq === 8 || (asked.seq === 7 && globalThis.tries === 1))
      return parentPort.postMessage({ number, built: { type: 'failed', fault: ${JSON.stringify(lost)} } })
    const messages`,
      ),
    )
    await untilUp()
    expect(await ask(7)).toEqual(requestNamed('there 7'))
    await expect(ask(8)).rejects.toMatchObject({ code: 'storage_error' })
    await thread.close()
  })

  it('lets a long request wait for its start', async () => {
    const { thread, ask, builds } = mortalThread()
    expect(await ask(5000)).toEqual(requestNamed('there 5000'))
    expect(builds).toEqual([])
    await thread.close()
  })

  it('rejects waiting requests when it dies, and restarts for the next one', async () => {
    const { thread, ask, untilUp } = mortalThread()
    await untilUp()
    const all = await Promise.allSettled([ask(13), ask(2)])
    const sentence = 'The request was not built: its thread ended (out of memory). Try again.'
    for (const one of all) expect(one).toMatchObject({ status: 'rejected', reason: { message: sentence } })
    expect(problems).toMatchObject([{ cause: { message: 'out of memory' } }])
    expect(await ask(3)).toEqual(requestNamed('there 3'))
    await thread.close()
  })

  it('reports once that it cannot start, and does not try again', async () => {
    const { thread, ask, builds } = mortalThread(`throw new Error('no such module')`)
    for (const seq of [0, 5000]) expect(await ask(seq)).toEqual(requestNamed('here'))
    expect(problems).toHaveLength(1)
    for (const seq of [1, 5001]) expect(await ask(seq)).toEqual(requestNamed('here'))
    expect(builds).toEqual([0, 5000, 1, 5001])
    expect(problems).toHaveLength(1)
    await thread.close()
  })

  it('closes at once while it is still starting', async () => {
    const { thread, ask } = mortalThread('await new Promise(() => setInterval(() => undefined, 1000))')
    await ask(1)
    await thread.close()
    await expect(thread.build(asked)).rejects.toThrow('it is closed')
  })
})
