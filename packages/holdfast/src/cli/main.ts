import { readFileSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findHome, storeOf } from '../system/home.ts'
import type { CliContext } from './context/cli-context.ts'
import { runProgram } from './program.ts'
import { createCrash } from './terminal/crash-report.ts'
import { createOutput } from './terminal/output.ts'

// npm and npx pass Ctrl-C on to a process that the terminal has already told: two signals so close are one.
const sameSignalMs = 200

const environment = process.env
const isColoured = !environment['NO_COLOR']
const isBuilt = !import.meta.url.endsWith('.ts')
const near = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const crash = createCrash({ write: (text) => void writeSync(process.stderr.fd, text), exit: process.exit })
process.on('uncaughtException', crash.end)
process.on('unhandledRejection', crash.end)

const place: CliContext = {
  environment,
  home: findHome(environment),
  store: storeOf(environment),
  version: versionOf(near('../../package.json')),
  pageDir: near(isBuilt ? '../page' : '../../../web/dist'),
  pid: process.pid,
  now: () => Date.now(),
  cwd: () => process.cwd(),
  input: () => process.stdin,
  out: createOutput({ stream: process.stdout, isColoured, isVital: true }),
  err: createOutput({ stream: process.stderr, isColoured, isVital: false }),
  onCrash: crash.onCrash,
  untilInterrupted,
}

const code = await runProgram(process.argv.slice(2), place)
process.exit(code) // all output is written; what is still open, such as an idle connection, must not keep us

function untilInterrupted(): AbortSignal {
  const interruption = new AbortController()
  let heardAt = 0
  const hear = () => {
    if (!interruption.signal.aborted) {
      heardAt = performance.now()
      interruption.abort()
    } else if (performance.now() - heardAt > sameSignalMs) process.exit(130)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, hear)
  return interruption.signal
}

function versionOf(manifest: string): string {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string } // our own package.json
  return version
}
