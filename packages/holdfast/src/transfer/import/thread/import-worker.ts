import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { createPortWriter } from '../../../store/sqlite/worker/port-writer.ts'
import type { WorkerPort } from '../../../store/sqlite/worker/worker-link.ts'
import { resolveWorkdirSync } from '../../../system/files/resolve-path.ts'
import { newHandle, newSessionId } from '../../../system/identity.ts'
import { wallClock } from '../../../system/wall-clock.ts'
import type { ImportHost } from '../host/import-host.ts'
import { type ImportedFile, type ImportFileOptions, type ImportProgress, importPaths } from '../import-paths.ts'
import { createDirectHost } from './direct-host.ts'

const rememberedMax = 10_000
/** More messages are not collected before they are sent, so that the other threads work meanwhile. */
const batchMax = 32

/** What the thread is started with. */
export type ImportJob = {
  readonly paths: readonly string[]
  readonly options: ImportFileOptions
  readonly defaultModel: string
  readonly skip: readonly string[]
  /** How many files were begun. It is shared, because a thread that ends for lack of memory cannot tell any more. */
  readonly begun: Int32Array
  /** 0 while no name can be that of a session in memory. */
  readonly memoryUsed: Int32Array
  /** The way to the writer of the store, past the host; null if the host writes. */
  readonly writer: WorkerPort | null
}

type Method = keyof ImportHost
export type HostCall = readonly [number: number, method: Method, args: readonly unknown[]]

/** Requests to the host and progress cross in batches, in the order they happened. */
export type FromImport =
  | { readonly type: 'call'; readonly call: HostCall }
  | { readonly type: 'found'; readonly files: readonly string[] }
  | { readonly type: 'file'; readonly file: ImportedFile }
  | { readonly type: 'end' }

export type HostAnswer = readonly [number: number, answer: { readonly value: unknown } | { readonly error: string }]

const port = parentPort
if (port === null) throw new Error('an import runs in a worker')
const job: ImportJob = workerData // typed by runImportThread
const { post, flush } = createOutbox()

void run()

/** Runs the job. What it throws ends the thread with an error. */
async function run(): Promise<void> {
  const writer = job.writer && createPortWriter(job.writer)
  const remote = createRemoteHost()
  const host = writer ? createDirectHost(remote, writer, job.memoryUsed) : remote
  const deps = {
    ...host,
    newSessionId,
    newHandle,
    now: wallClock.now,
    homes: findHomes(),
    defaultModel: job.defaultModel,
    resolveWorkdir: remember(resolveWorkdirSync),
  }
  const progress: ImportProgress = {
    onFound(files) {
      post({ type: 'found', files })
      flush()
    },
    onBegin(index, isLarge) {
      if (isLarge) flush() // it may end the thread, for lack of memory
      Atomics.store(job.begun, 0, index + 1)
    },
    onFile: (file) => post({ type: 'file', file }),
  }
  await importPaths(deps, job.paths, { ...job.options, ...progress }, new Set(job.skip))
  post({ type: 'end' })
  flush()
  writer?.close()
  port?.close()
}

/** Sends what concerns several files in one message. */
function createOutbox() {
  let outgoing: FromImport[] = []
  const flush = (): void => {
    if (outgoing.length > 0) port?.postMessage(outgoing)
    outgoing = []
  }
  const post = (message: FromImport): void => {
    if (outgoing.length === 0) setImmediate(flush)
    outgoing.push(message)
    if (outgoing.length >= batchMax) flush()
  }
  return { post, flush }
}

/** Asks the host on the main thread. */
function createRemoteHost(): ImportHost {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let lastNumber = 0
  port?.on('message', (answers: readonly HostAnswer[]) => {
    for (const [number, answer] of answers) {
      if ('value' in answer) waiting.get(number)?.resolve(answer.value)
      else waiting.get(number)?.reject(new Error(answer.error))
      waiting.delete(number)
    }
  })
  const ask = (method: Method, args: readonly unknown[]): Promise<unknown> => {
    lastNumber += 1
    post({ type: 'call', call: [lastNumber, method, args] })
    const answer = Promise.withResolvers<unknown>()
    waiting.set(lastNumber, answer)
    return answer.promise
  }
  // The host answers by its methods; TypeScript cannot follow that through the port.
  const method = <Name extends Method>(name: Name) =>
    ((...args: readonly unknown[]) => ask(name, args)) as unknown as ImportHost[Name]
  return {
    entry: method('entry'),
    findKey: method('findKey'),
    checkTrash: method('checkTrash'),
    checkNames: method('checkNames'),
    create: method('create'),
    append: method('append'),
    read: method('read'),
    claim: method('claim'),
    release: method('release'),
    putBlob: method('putBlob'),
    hasBlob: method('hasBlob'),
    storeFile: method('storeFile'),
  }
}

/** Returns the home directory of this user, as it is named and where it is. */
function findHomes(): readonly string[] {
  const named = homedir()
  try {
    return [named, realpathSync(named)]
  } catch {
    return [named]
  }
}

/** Many files of a folder name the same workdir. */
function remember<Value>(look: (path: string) => Value): (path: string) => Value {
  const known = new Map<string, Value>()
  return (path) => {
    const value = known.get(path) ?? look(path)
    if (known.size >= rememberedMax) known.clear()
    known.set(path, value)
    return value
  }
}
