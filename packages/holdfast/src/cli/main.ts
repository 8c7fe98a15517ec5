import { readFileSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { letYoungSpaceGrow } from '../system/heap-growth.ts'
import { findHome, storeOf } from '../system/home.ts'
import { runProgram } from './program.ts'
import { wrapSentences } from './render/wrap-words.ts'
import { createCrashReporter } from './terminal/crash-report.ts'
import { createKeyboard } from './terminal/keyboard.ts'
import { colourOf, createOutput } from './terminal/output.ts'

// npm and npx forward Ctrl-C to a process that already got it from the terminal: two signals this close are one.
const sameSignalMs = 100
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const environment = process.env
const colour = colourOf(environment)
const isBuilt = !import.meta.url.endsWith('.ts')
const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const crash = createCrashReporter({ write: (text) => void writeSync(process.stderr.fd, text), exit: process.exit })
process.on('uncaughtException', crash.end)
process.on('unhandledRejection', crash.end)

if (process.argv[2] !== 'serve') letYoungSpaceGrow() // a server does it once it has started
const code = await runProgram(process.argv.slice(2), {
  environment,
  home: findHome(environment),
  store: storeOf(environment),
  version: readVersion(pathOf('../../package.json')),
  pageDir: pathOf(isBuilt ? '../page' : '../../../web/dist'),
  pid: process.pid,
  now: () => Date.now(),
  cwd: () => process.cwd(),
  input: () => process.stdin,
  keyboard: createKeyboard(() => process.stdin),
  screen: () => process.stdout,
  out: createOutput({ stream: process.stdout, colour, rejectsOnFailure: true, wrapSentences }),
  err: createOutput({ stream: process.stderr, colour, rejectsOnFailure: false, wrapSentences }),
  onCrash: crash.onCrash,
  untilInterrupted,
})
process.exit(code) // all output is written; an idle connection must not keep the process alive

/** Aborts at the first signal. Then the system handles signals again, so that the second one ends even a blocked process. */
function untilInterrupted(): AbortSignal {
  const interruption = new AbortController()
  const onSignal = (received: NodeJS.Signals) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, sameSignalMs) // a timer would need a free event loop
    for (const signal of signals) process.removeListener(signal, onSignal)
    interruption.abort(received)
  }
  for (const signal of signals) process.on(signal, onSignal)
  return interruption.signal
}

function readVersion(manifest: string): string {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string } // our own package.json
  return version
}
