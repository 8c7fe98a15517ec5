import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { findScript, isOutOfMemory, startThread } from './start-thread.ts'

const scriptOf = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`)

it('starts a thread with its data and without the flags of this process', async () => {
  const thread = startThread(
    scriptOf(`import { parentPort, workerData } from 'node:worker_threads'
parentPort.postMessage([workerData, process.execArgv])`),
    { workerData: 'data' },
  )
  const exited = once(thread, 'exit')
  expect(await once(thread, 'message')).toEqual([['data', []]])
  await exited
})

it('shares the cache of compiled modules with a thread', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-compiled-'))
  const main = `
    import { enableCompileCache } from 'node:module'
    enableCompileCache(${JSON.stringify(directory)})
    const { startThread } = await import(${JSON.stringify(new URL('./start-thread.ts', import.meta.url).href)})
    const script = "import { getCompileCacheDir } from 'node:module'; console.log(getCompileCacheDir())"
    startThread(new URL('data:text/javascript,' + encodeURIComponent(script)))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', main], { env: {} })
  rmSync(directory, { recursive: true })
  expect(stdout).toContain(directory)
})

it('ends a thread that needs more memory than it may use', async () => {
  const thread = startThread(scriptOf(`const all = []; for (;;) all.push({ all: [...all] })`), { heapMb: 8 })
  const cause = await new Promise((resolve) => thread.on('error', resolve))
  expect(isOutOfMemory(cause)).toBe(true)
  expect(isOutOfMemory(new Error('other'))).toBe(false)
})

it('finds the script of a thread in the repo and in the built package', () => {
  expect(findScript('./worker/one', 'file:///a/b.ts').href).toBe('file:///a/worker/one.ts')
  expect(findScript('./worker/one', 'file:///a/b.js').href).toBe('file:///a/worker/one.js')
})
