/**
 * Loaded with `--import` before the server: writes down each of our functions that runs, on every thread, in order.
 * Each module is instrumented as it loads, so the program runs unchanged but for one call at the start of a function.
 */
import { appendFileSync } from 'node:fs'
import { createRequire, registerHooks, stripTypeScriptTypes, syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { instrument } from './instrument.ts'

/** One call of one of our functions. `order` counts the calls of all threads. */
export type Call = { readonly thread: string; readonly file: string; readonly name: string; readonly order: number }

/** Sent to the traced process, which sends it back once it is so. */
export type Tracing = 'on' | 'off'

/** Shared by all threads: whether calls are written down, and how many there were. */
const shared = new Int32Array((getEnvironmentData('walk') ?? new SharedArrayBuffer(8)) as SharedArrayBuffer)
const file = process.env['HOLDFAST_WALK_FILE'] ?? ''
const functions: { readonly file: string; readonly name: string }[] = []
let thread = isMainThread ? 'main' : ''

Object.assign(globalThis, {
  holdfastWalk(index: number) {
    if (Atomics.load(shared, 0) === 0) return
    const order = Atomics.add(shared, 1, 1)
    // A worker that sleeps until it is asked answers no message, so each call is written at once.
    appendFileSync(file, `${JSON.stringify({ thread, ...functions[index], order })}\n`)
  },
})

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const [, packageName, path] = /\/packages\/([a-z]+)\/src\/(.+\.ts)$/.exec(url) ?? []
    if (path === undefined || !loaded.source) return loaded
    if (thread === '') thread = path.replace(/^.*\/|\.ts$/g, '') // a worker is named after the first file it loads
    const source = stripTypeScriptTypes(String(loaded.source))
    const register = (name: string) => functions.push({ file: `${packageName}/${path}`, name }) - 1
    return { ...loaded, format: 'module', source: instrument(source, register) }
  },
})

traceWorkers()
if (isMainThread) {
  setEnvironmentData('walk', shared.buffer)
  process.on('message', (tracing: Tracing) => {
    Atomics.store(shared, 0, tracing === 'on' ? 1 : 0)
    process.send?.(tracing)
  })
}

/** Loads this file in worker threads too, which start with no options of their own. */
function traceWorkers(): void {
  const builtin = createRequire(import.meta.url)('node:worker_threads')
  builtin.Worker = class extends builtin.Worker {
    constructor(script: URL, options: { readonly execArgv: readonly string[] }) {
      super(script, { ...options, execArgv: [...options.execArgv, '--import', fileURLToPath(import.meta.url)] })
    }
  }
  syncBuiltinESMExports()
}
