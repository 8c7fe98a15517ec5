import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { findBundle, findScript, isOutOfMemory, startThread } from './start-thread.ts'

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

/** Starts a thread in a process that runs `first`, and returns the directory of the thread's cache. */
async function cacheOfThread(first: string): Promise<string> {
  const main = `
    ${first}
    const { startThread } = await import(${JSON.stringify(new URL('./start-thread.ts', import.meta.url).href)})
    const script = "import { getCompileCacheDir } from 'node:module'; console.log(getCompileCacheDir())"
    startThread(new URL('data:text/javascript,' + encodeURIComponent(script)))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', main], { env: {} })
  return stdout
}

it('shares the cache of compiled modules with a thread', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-compiled-'))
  const cache = await cacheOfThread(`
    import { enableCompileCache } from 'node:module'
    enableCompileCache(${JSON.stringify(directory)})`)
  rmSync(directory, { recursive: true })
  expect(cache).toContain(directory)
})

it('gives a thread of the repo a cache of compiled modules if the process has none', async () => {
  expect(await cacheOfThread('')).toContain(join('node_modules', '.cache', 'holdfast'))
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
  expect(findBundle('./worker/one', 'file:///a/b.ts').href).toBe('file:///a/worker/one.ts')
  expect(findBundle('./worker/one', 'file:///a/b.js').href).toBe('file:///a/worker/one.cjs')
})
